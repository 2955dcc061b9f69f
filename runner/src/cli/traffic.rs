//! What `run` does besides monitoring: groups choose, inbounds let connections in, and
//! the monitor hears of changes of the network. It must not know how results are shown.

use std::sync::Arc;
use std::time::Duration;

use outwatch::dispatch::Dispatch;
use outwatch::group::{GroupPlan, Groups};
use outwatch::inbound::{self, Connections, Inbound, Route, Serving, Upstream};
use outwatch::{Cache, MemoryCache, Monitor, Problem, ProxyCore, network};
use serde_json::Value;
use tokio::task::JoinSet;
use tracing::{error, info, warn};

use super::config::Checked;
use super::current::Current;
use super::memory;
use super::workers::Workers;

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
    monitor: Monitor,
    groups: Arc<Current<Groups>>,
    /// What all connections go through; none where the config has no outbound.
    final_tag: Option<String>,
    /// Who counts what connections carry; none where nobody asks.
    connections: Option<Connections>,
    /// Where every inbound sends connections; none before the first is opened.
    upstream: Option<Arc<Current<dyn Upstream>>>,
    inbounds: Vec<(Inbound, Serving)>,
    workers: Workers,
    /// Has the groups choose, and tells the monitor that it is used.
    choosing: JoinSet<()>,
    _network: JoinSet<()>,
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

    /// Opens what there is to open, with its connections among these if any are given. An
    /// inbound that cannot listen is logged, and stops neither the others nor the monitor.
    pub(crate) async fn open(
        self,
        core: Arc<dyn ProxyCore>,
        groups: Groups,
        monitor: &Monitor,
        connections: Option<Connections>,
    ) -> Traffic {
        let mut traffic = Traffic {
            monitor: monitor.clone(),
            groups: Arc::new(Current::new(Arc::new(groups.clone()))),
            final_tag: None,
            connections,
            upstream: None,
            inbounds: Vec::new(),
            workers: Workers::default(),
            choosing: JoinSet::new(),
            _network: watch_network(monitor),
        };
        traffic.take_up(self, core, groups).await;
        traffic
    }
}

impl Traffic {
    /// Goes over to what another config says. Groups go on from where they are, inbounds
    /// that it does not change stay open, and so do the connections of these.
    pub(crate) async fn go_over(&mut self, mut plan: Plan, core: Arc<dyn ProxyCore>) {
        // No group may move what the next one has taken over.
        self.choosing.shutdown().await;
        let plans = std::mem::take(&mut plan.groups);
        let groups = self.groups.get().renewed(core.clone(), plans);
        self.take_up(plan, core, groups).await;
    }

    /// The groups that choose, whichever these are.
    pub(crate) fn groups(&self) -> &Arc<Current<Groups>> {
        &self.groups
    }

    /// The outbound or group that connections go through now.
    pub(crate) fn final_tag(&self) -> Option<String> {
        self.final_tag.clone()
    }

    /// Lets nobody in any more, and ends the connections there are.
    pub(crate) async fn stop(self) {
        for (_, inbound) in self.inbounds {
            inbound.stop().await;
        }
    }

    async fn take_up(&mut self, plan: Plan, core: Arc<dyn ProxyCore>, groups: Groups) {
        self.groups.set(Arc::new(groups.clone()));
        let (choosing, kept) = (groups.clone(), self.monitor.clone());
        self.choosing
            .spawn(memory::give_back_after(groups.changes()));
        self.choosing
            .spawn(async move { choosing.keep(&kept).await });
        self.final_tag.clone_from(&plan.route.final_tag);
        match plan.route.final_tag {
            Some(tag) => {
                let monitor = self.monitor.clone();
                let dispatch = Dispatch::new(core, groups, monitor, tag.clone());
                let dispatch = Arc::new(match &self.connections {
                    Some(connections) => dispatch.counting(connections.clone()),
                    None => dispatch,
                });
                match &self.upstream {
                    Some(upstream) => upstream.set(dispatch),
                    None => self.upstream = Some(Arc::new(Current::new(dispatch))),
                }
                self.open(plan.inbounds, &tag).await;
            }
            None => self.open(Vec::new(), "").await,
        }
        if self.inbounds.is_empty() {
            // Nobody can tell of use, so that who watches is the one who uses (N-1).
            self.choosing.spawn(keep_awake(self.monitor.clone()));
        }
    }

    /// Has these inbounds open and no others.
    async fn open(&mut self, wanted: Vec<Inbound>, tag: &str) {
        let open = std::mem::take(&mut self.inbounds);
        // Those that are closed may hold the port of one that is opened.
        for (inbound, serving) in open {
            if wanted.contains(&inbound) {
                self.inbounds.push((inbound, serving));
            } else {
                info!("the inbound {:?} is closed", serving.tag());
                serving.stop().await;
            }
        }
        let Some(upstream) = &self.upstream else {
            return;
        };
        for inbound in wanted {
            if self.inbounds.iter().any(|(open, _)| *open == inbound) {
                continue;
            }
            let serve = || inbound.clone().serve(upstream.clone());
            let served = match self.workers.run(serve) {
                Ok(served) => served,
                Err(error) => {
                    error!("there are no threads for connections: {error}");
                    return;
                }
            };
            match served {
                Ok(serving) => {
                    let (name, address) = (serving.tag(), serving.address());
                    info!("connections to {address} ({name:?}) go through {tag:?}");
                    self.inbounds.push((inbound, serving));
                }
                Err(refused) => error!("{refused}"),
            }
        }
    }
}

/// Tells a monitor of changes of the network.
fn watch_network(monitor: &Monitor) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
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
    tasks
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
