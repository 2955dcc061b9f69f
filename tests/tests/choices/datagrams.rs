//! Groups whose members do not all carry datagrams.

use std::sync::Arc;

use outwatch::MemoryCache;
use outwatch_tests::peers::{Core, Rival};
use serde_json::json;

use super::ours::Ours;
use super::page::Table;
use super::world::{URL, World, datagram, visit};

#[tokio::test(flavor = "multi_thread")]
async fn g5_where_datagrams_go_beside_sing_box_and_mihomo() {
    let columns = ["what a user sends", "Outwatch", "sing-box", "mihomo"];
    let mut table = Table::new("datagrams", &columns);
    let mut world = World::new(&["a", "b", "c"]);
    world.answer(&[("a", 10), ("b", 500), ("c", 1000)]);
    let mut members = world.members();
    members[0].datagrams = false;
    let ours = json!({ "type": "urltest", "tag": "auto" });
    let sing_box = json!({
        "type": "urltest", "tag": "auto", "url": URL, "interval": "1h", "idle_timeout": "1h",
    });
    let mihomo = json!({
        "type": "url-test", "name": "auto", "tolerance": 50, "url": URL, "interval": 3600,
    });
    let ours = Ours::start(&members, &[ours], Arc::new(MemoryCache::default())).await;
    let rivals = [
        Rival::start(Core::SingBox, &members, &[sing_box]),
        Rival::start(Core::Mihomo, &members, &[mihomo]),
    ];
    let [sing_box, mihomo] = &rivals;
    let ports = [ours.port(0), sing_box.port(0), mihomo.port(0)];
    for when in ["", ", once b has failed a test"] {
        ours.tests("auto").await;
        for rival in &rivals {
            rival.tests("auto", URL);
        }
        let [ours, sing_box, mihomo] = ports.map(|port| visit(port, "page.test"));
        table.row(&[&format!("a request{when}"), &ours, &sing_box, &mihomo]);
        let [ours, sing_box, mihomo] = ports.map(datagram);
        let (ours, sing_box, mihomo) = tokio::join!(ours, sing_box, mihomo);
        table.row(&[&format!("a datagram{when}"), &ours, &sing_box, &mihomo]);
        world.die(&["b"]);
    }
    table.stands_on_the_page();
}
