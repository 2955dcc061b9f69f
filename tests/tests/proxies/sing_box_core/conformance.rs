//! The promises of every core, kept by those that come with Outwatch.

use outwatch::conformance::{Scene, check};
use outwatch_tests::peers::{Inbound, Manners, Port, Rude, SingBox, socks, with};
use serde_json::{Value, json};

use crate::proxies::world;

/// Servers that work, hang and are not there.
struct Servers {
    works: SingBox,
    hangs: Rude,
    nobody: Port,
}

impl Servers {
    fn start() -> Self {
        Self {
            works: SingBox::start([Inbound::socks()]),
            hangs: Rude::start(Manners::Hangs),
            nobody: Port::reserve(),
        }
    }

    fn outbounds(&self) -> [Value; 5] {
        [
            self.works.outbound(0, "works"),
            with(
                self.works.outbound(0, "streams"),
                json!({ "network": "tcp" }),
            ),
            socks("hangs", self.hangs.port()),
            socks("dead", self.nobody.number()),
            json!({ "type": "balancer", "tag": "group", "outbounds": ["works", "hangs", "dead"] }),
        ]
    }
}

fn scene() -> Scene {
    Scene::of("works")
        .refusing("dead")
        .hanging("hangs")
        .group("group")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_native_core_keeps_every_promise() {
    let servers = Servers::start();
    let core = world::core(servers.outbounds());
    assert_eq!(check(&core, &scene()).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_core_over_sing_box_keeps_every_promise() {
    let servers = Servers::start();
    let core = super::world::core(servers.outbounds()).await;
    assert_eq!(check(&core, &scene()).await, []);
}
