//! Outwatch over the members: its core, its groups and its monitor in this process, with
//! an inbound for each group. It must not know what is expected of it.

use std::sync::Arc;

use outwatch::config::{self, LoadOptions};
use outwatch::dispatch::Dispatch;
use outwatch::group::{GroupPlan, Groups};
use outwatch::inbound::{self, Serving};
use outwatch::{MemoryCache, Monitor, NativeCore, Network, ProxyCore as _, View};
use outwatch_tests::peers::Member;
use serde_json::{Value, json};

use super::world::URL;

pub(crate) struct Ours {
    core: Arc<NativeCore>,
    groups: Groups,
    monitor: Monitor,
    inbounds: Vec<Serving>,
}

impl Ours {
    /// Groups of these members, as in a config but for their members. What is saved goes
    /// to the cache, and comes from there.
    pub(crate) async fn start(
        members: &[Member],
        groups: &[Value],
        cache: Arc<MemoryCache>,
    ) -> Self {
        let tags: Vec<&str> = members.iter().map(|member| member.tag).collect();
        let entries = groups.iter().map(|group| {
            let mut group = group.clone();
            group["outbounds"] = json!(tags);
            group
        });
        let entries = entries.chain(members.iter().map(Member::outbound));
        let config = json!({
            "outbounds": entries.collect::<Vec<_>>(),
            "inbounds": groups.iter().map(|group| json!({
                "type": "mixed", "tag": group["tag"], "listen_port": 0,
            })).collect::<Vec<_>>(),
            // One attempt for each test that is asked for, and none of its own in between.
            "experimental": { "monitoring": {
                "urls": [URL], "ip_lookup": false, "interval": "1h",
                "on_demand_timeouts": ["10s"],
            } },
        });
        let text = config.to_string();
        let loaded = config::read("test.json", text.as_bytes(), &LoadOptions::default());
        let config = loaded.config.expect("a config without errors");
        let (core, problems) = NativeCore::new(&config.entries, None);
        assert_eq!(problems, []);
        let (core, plans) = (Arc::new(core), GroupPlan::of_config(&config.entries).0);
        let groups = Groups::new(core.clone(), plans, cache.clone());
        let monitor = Monitor::builder(core.clone())
            .options(config.monitoring)
            .cache(cache)
            .start()
            .await
            .expect("a monitor");
        let (inbounds, problems) = inbound::read(&config.inbounds);
        assert_eq!(problems, []);
        let opened = inbounds.into_iter().map(|inbound| {
            let tag = inbound.tag().to_owned();
            let dispatch = Dispatch::new(core.clone(), groups.clone(), monitor.clone(), tag);
            inbound.serve(Arc::new(dispatch)).expect("a free port")
        });
        let inbounds = opened.collect();
        let (choosing, kept) = (groups.clone(), monitor.clone());
        tokio::spawn(async move { choosing.keep(&kept).await });
        Self {
            core,
            groups,
            monitor,
            inbounds,
        }
    }

    /// Has every member of a group tested now, and the groups know of it.
    pub(crate) async fn tests(&self, group: &str) {
        self.monitor.test(group).await.expect("members to test");
        // They will hear of it as subscribers too; here they are known to have.
        self.groups
            .observe(&self.monitor.reports(View::Confirmed).await);
    }

    /// The member that a group leads to.
    pub(crate) fn now(&self, group: &str) -> String {
        let member = self.core.selected(group, Network::Tcp);
        member.unwrap_or_default()
    }

    /// Where the inbound of a group listens on 127.0.0.1.
    pub(crate) fn port(&self, group: usize) -> u16 {
        self.inbounds[group].address().port()
    }
}
