//! One inbound, straight to an echo server. It must not know who comes.

use std::net::SocketAddr;
use std::sync::Arc;

use outwatch::NativeCore;
use outwatch::config::{self, LoadOptions};
use outwatch::inbound::{self, OneOutbound, Serving};
use outwatch_tests::peers::Echo;
use serde_json::json;

pub(crate) struct World {
    serving: Serving,
    pub(crate) echo: Echo,
}

impl World {
    pub(crate) fn new() -> Self {
        let config = json!({
            "outbounds": [{ "type": "direct", "tag": "direct" }],
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
                .serve(Arc::new(OneOutbound::new(core, "direct")))
                .expect("a free port"),
            echo: Echo::start(),
        }
    }

    pub(crate) fn inbound(&self) -> SocketAddr {
        self.serving.address()
    }
}
