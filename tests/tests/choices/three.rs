//! Three cores, each with a group `auto` of the same members that leads to one of them. It
//! must not know what is expected of any.

use std::sync::{Arc, Mutex};

use outwatch::MemoryCache;
use outwatch_tests::peers::{Core, Member, Rival};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::ours::Ours;
use super::world::URL;

/// Outwatch, sing-box and mihomo; what is told of each is told in this order.
pub(crate) struct Three {
    members: Vec<Member>,
    tolerance_ms: u64,
    cache: Arc<MemoryCache>,
    ours: Ours,
    rivals: [Arc<Mutex<Rival>>; 2],
}

impl Three {
    pub(crate) async fn start(members: Vec<Member>, tolerance_ms: u64) -> Self {
        let sing_box = json!({
            "type": "urltest", "tag": "auto", "tolerance": tolerance_ms,
            "url": URL, "interval": "1h", "idle_timeout": "1h",
        });
        let mihomo = json!({
            "type": "url-test", "name": "auto", "tolerance": tolerance_ms,
            "url": URL, "interval": 3600,
        });
        let rivals = [(Core::SingBox, sing_box), (Core::Mihomo, mihomo)];
        let rivals = rivals
            .map(|(core, group)| Arc::new(Mutex::new(Rival::start(core, &members, &[group]))));
        let cache = Arc::new(MemoryCache::default());
        let ours = ours(&members, tolerance_ms, &cache).await;
        Self {
            members,
            tolerance_ms,
            cache,
            ours,
            rivals,
        }
    }

    /// Has each test every member once.
    pub(crate) async fn test(&self) {
        let rivals = self.rivals.clone().map(|rival| {
            spawn_blocking(move || {
                let rival = rival.lock().expect("a rival");
                rival.tests("auto", URL);
            })
        });
        self.ours.tests("auto").await;
        for rival in rivals {
            rival.await.expect("answers to all its tests");
        }
    }

    /// The member that each leads to.
    pub(crate) fn now(&self) -> [String; 3] {
        let [sing_box, mihomo] = self.each_rival(|rival| rival.now("auto"));
        [self.ours.now("auto"), sing_box, mihomo]
    }

    /// Where the inbound of each listens on 127.0.0.1.
    pub(crate) fn ports(&self) -> [u16; 3] {
        let [sing_box, mihomo] = self.each_rival(|rival| rival.port(0));
        [self.ours.port(0), sing_box, mihomo]
    }

    /// Ends each, and starts it with what it has saved.
    pub(crate) async fn start_again(&mut self) {
        self.ours = ours(&self.members, self.tolerance_ms, &self.cache).await;
        self.each_rival(Rival::starts_again);
    }

    fn each_rival<T>(&self, of: impl Fn(&mut Rival) -> T) -> [T; 2] {
        let rivals = self.rivals.each_ref();
        rivals.map(|rival| of(&mut rival.lock().expect("a rival")))
    }
}

async fn ours(members: &[Member], tolerance_ms: u64, cache: &Arc<MemoryCache>) -> Ours {
    let group = json!({ "type": "urltest", "tag": "auto", "tolerance": tolerance_ms });
    Ours::start(members, &[group], Arc::clone(cache)).await
}
