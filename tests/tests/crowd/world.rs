//! One inbound in front of one outbound, and echo servers. It must not know who comes.

use std::net::SocketAddr;
use std::sync::Arc;

use outwatch::NativeCore;
use outwatch::config::{self, LoadOptions};
use outwatch::inbound::{self, OneOutbound, Serving};
use outwatch_tests::peers::{Echo, UdpEcho};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

pub(crate) struct World {
    serving: Serving,
    pub(crate) echo: Echo,
    pub(crate) udp_echo: UdpEcho,
}

impl World {
    /// Straight out.
    pub(crate) fn new() -> Self {
        Self::through(&json!({ "type": "direct", "tag": "out" }))
    }

    /// Through an outbound called `out`.
    pub(crate) fn through(outbound: &Value) -> Self {
        let config = json!({
            "outbounds": [outbound],
            "inbounds": [{ "type": "mixed", "listen_port": 0 }],
        });
        let text = config.to_string();
        let loaded = config::read("test.json", text.as_bytes(), &LoadOptions::default());
        let config = loaded.config.expect("a config without errors");
        let (core, _) = NativeCore::new(&config.entries, None);
        let (inbounds, _) = inbound::read(&config.inbounds);
        let inbound = inbounds.into_iter().next().expect("one inbound");
        Self {
            serving: inbound
                .serve(Arc::new(OneOutbound::new(core, "out")))
                .expect("a free port"),
            echo: Echo::start(),
            udp_echo: UdpEcho::start(),
        }
    }

    pub(crate) fn inbound(&self) -> SocketAddr {
        self.serving.address()
    }
}

/// As many visitors at once, by number, until each has ended. All wait for the others where
/// they wait for the barrier.
pub(crate) async fn together<V: Future<Output = ()> + Send + 'static>(
    count: usize,
    visit: impl Fn(usize, Arc<Barrier>) -> V,
) {
    let all_are_there = Arc::new(Barrier::new(count));
    let mut crowd = JoinSet::new();
    for number in 0..count {
        crowd.spawn(visit(number, Arc::clone(&all_are_there)));
    }
    while let Some(ended) = crowd.join_next().await {
        ended.expect("every one is served");
    }
}
