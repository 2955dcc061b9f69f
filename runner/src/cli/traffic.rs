//! What `run` does besides monitoring: groups choose, inbounds let connections in, and
//! the monitor hears of changes of the network. It must not know how results are shown.

use std::sync::Arc;
use std::time::Duration;

use outwatch::dispatch::Dispatch;
use outwatch::group::{GroupPlan, Groups};
use outwatch::inbound::{self, Inbound, Route, Serving};
use outwatch::{Cache, MemoryCache, Monitor, Problem, ProxyCore, network};
use serde_json::Value;
use tokio::task::JoinSet;
use tracing::{error, info, warn};

use super::config::Checked;

/// How often a monitor without inbounds is told that it is used.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(60);

/// What a config says of traffic.
pub(crate) struct Plan {
    groups: Vec<GroupPlan>,
    inbounds: Vec<Inbound>,
    route: Route,
}

/// Groups, inbounds and the watch of the network, as long as this lives.
pub(crate) struct Traffic {
    inbounds: Vec<Serving>,
    _tasks: JoinSet<()>,
}

impl Plan {
    /// What a config says, and what is wrong with its inbounds and its route; what is
    /// wrong with groups is told with their core.
    pub(crate) fn read(checked: &Checked) -> (Self, Vec<Problem>) {
        let config = &checked.config;
        let (inbounds, mut problems) = inbound::read(&config.inbounds);
        let (route, of_route) = Route::read(&config.route, &config.entries);
        problems.extend(of_route);
        let plan = Self {
            groups: GroupPlan::of_config(&config.entries).0,
            inbounds,
            route,
        };
        (plan, problems)
    }

    /// The groups, which lead somewhere from now on. To be called before the monitor
    /// starts, which tests first what they lead to (C-1).
    pub(crate) fn groups(
        &mut self,
        core: Arc<dyn ProxyCore>,
        cache: Option<Arc<dyn Cache>>,
    ) -> Groups {
        let cache = cache.unwrap_or_else(|| Arc::new(MemoryCache::default()));
        Groups::new(core, std::mem::take(&mut self.groups), cache)
    }

    /// Opens what there is to open. An inbound that cannot listen is logged, and stops
    /// neither the others nor the monitor.
    pub(crate) fn open(
        self,
        core: Arc<dyn ProxyCore>,
        groups: Groups,
        monitor: &Monitor,
    ) -> Traffic {
        let mut tasks = JoinSet::new();
        let (choosing, kept) = (groups.clone(), monitor.clone());
        tasks.spawn(async move { choosing.keep(&kept).await });
        match network::watch() {
            Ok(mut changes) => {
                let monitor = monitor.clone();
                tasks.spawn(async move {
                    loop {
                        changes.next().await;
                        monitor.network_changed();
                    }
                });
            }
            Err(error) => warn!("changes of the network go unnoticed: {error}"),
        }
        let mut inbounds = Vec::new();
        if let Some(tag) = self.route.final_tag {
            let dispatch = Arc::new(Dispatch::new(core, groups, monitor.clone(), tag.clone()));
            for inbound in self.inbounds {
                match inbound.serve(dispatch.clone()) {
                    Ok(serving) => {
                        let (inbound, address) = (serving.tag(), serving.address());
                        info!("connections to {address} ({inbound:?}) go through {tag:?}");
                        inbounds.push(serving);
                    }
                    Err(refused) => error!("{refused}"),
                }
            }
        }
        if inbounds.is_empty() {
            // Nobody can tell of use, so that who watches is the one who uses (N-1).
            tasks.spawn(keep_awake(monitor.clone()));
        }
        Traffic {
            inbounds,
            _tasks: tasks,
        }
    }
}

/// Tells the monitor again and again that it is used, before it falls idle.
async fn keep_awake(monitor: Monitor) {
    let options = monitor.options().await.unwrap_or_default();
    let options: Value = serde_json::from_str(&options).unwrap_or_default();
    let idle_timeout = options["idle_timeout"].as_str().unwrap_or_default();
    let idle_timeout = humantime::parse_duration(idle_timeout).unwrap_or(LONGEST);
    let mut turns = tokio::time::interval((idle_timeout / 3).clamp(SHORTEST, LONGEST));
    loop {
        turns.tick().await;
        monitor.activity();
    }
}

impl Traffic {
    /// Lets nobody in any more, and ends the connections there are.
    pub(crate) async fn stop(self) {
        for inbound in self.inbounds {
            inbound.stop().await;
        }
    }
}
