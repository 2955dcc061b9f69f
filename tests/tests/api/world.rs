//! A monitor over a stub core, served on a free port. It must not hold an expectation.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use outwatch::api::{Api, Serving};
use outwatch::group::{GroupPlan, Groups};
use outwatch::{Builder, MemoryCache, Monitor};
use outwatch_tests::http::Client;
use outwatch_tests::stub::Stub;
use tokio::task::JoinSet;

/// Any free port of this host.
pub(crate) const FREE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// What is served, and who asks.
pub(crate) struct World {
    pub(crate) monitor: Monitor,
    pub(crate) client: Client,
    pub(crate) serving: Serving,
    groups: JoinSet<()>,
}

pub(crate) fn describe(stub: &Stub) -> Builder {
    Monitor::builder(stub.clone())
        .component(outwatch_tests::engines::fresh())
        .options(
            r#"{"ip_lookup": false, "debounce_window": "10ms", "on_demand_timeouts": ["30s"]}"#,
        )
        .paused()
}

impl World {
    /// A monitor that tests only what it is asked for.
    pub(crate) async fn of(stub: &Stub) -> Self {
        Self::with(stub, |api| api).await
    }

    /// The same, served as `described`.
    pub(crate) async fn with(stub: &Stub, described: impl FnOnce(Api) -> Api) -> Self {
        Self::start(describe(stub), described).await
    }

    /// A monitor as it is given.
    pub(crate) async fn start(builder: Builder, described: impl FnOnce(Api) -> Api) -> Self {
        let monitor = builder.start().await.expect("a monitor");
        let serving = described(Api::new(&monitor)).serve(FREE).expect("a server");
        Self {
            client: Client::of(serving.address()),
            monitor,
            serving,
            groups: JoinSet::new(),
        }
    }

    /// The same, with groups that choose.
    pub(crate) async fn choosing(stub: &Stub, plans: impl IntoIterator<Item = GroupPlan>) -> Self {
        Self::choosing_with(stub, plans, |api| api).await
    }

    /// The same, served as `described`.
    pub(crate) async fn choosing_with(
        stub: &Stub,
        plans: impl IntoIterator<Item = GroupPlan>,
        described: impl FnOnce(Api) -> Api,
    ) -> Self {
        let groups = Groups::new(
            Arc::new(stub.clone()),
            plans,
            Arc::new(MemoryCache::default()),
        );
        let served = groups.clone();
        let mut world = Self::with(stub, |api| described(api.groups(served))).await;
        world.keep(&groups);
        world
    }

    /// Has groups choose from now on.
    pub(crate) fn keep(&mut self, groups: &Groups) {
        let (groups, monitor) = (groups.clone(), self.monitor.clone());
        self.groups = JoinSet::new();
        self.groups
            .spawn(async move { groups.keep(&monitor).await });
    }
}
