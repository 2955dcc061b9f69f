//! What users meet when the member dies that all go through, and no test is due.

use std::collections::BTreeSet;
use std::sync::Arc;

use outwatch::MemoryCache;
use outwatch_tests::peers::{Core, Rival};
use serde_json::json;

use super::ours::Ours;
use super::page::Table;
use super::world::{LOST, URL, World, visit};

/// How many requests follow the first: those in which a core may find its way, and those
/// in which it has.
const MEANWHILE: usize = 3;
const LATER: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn g7_what_users_meet_when_a_member_dies_beside_sing_box_and_mihomo() {
    let mut table = Table::new("dying", &["request", "Outwatch", "sing-box", "mihomo"]);
    let mut world = World::new(&["a", "b", "c"]);
    world.answer(&[("a", 300), ("b", 10), ("c", 600)]);
    let members = world.members();
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
    ours.tests("auto").await;
    for rival in &rivals {
        rival.tests("auto", URL);
    }
    let [sing_box, mihomo] = &rivals;
    let ports = [ours.port(0), sing_box.port(0), mihomo.port(0)];
    let visits = || ports.map(|port| visit(port, "page.test"));
    assert_eq!(visits(), ["b", "b", "b"]);

    world.die(&["b"]);
    let [ours, sing_box, mihomo] = visits();
    // It depends on whether its own tests are done before it gives up.
    let mihomo = match mihomo.as_str() {
        "a" | LOST => "a, or lost",
        _ => &mihomo,
    };
    table.row(&["the first", &ours, &sing_box, mihomo]);
    for _ in 0..MEANWHILE {
        assert_eq!(visits()[0], "a", "Outwatch loses none");
    }
    let later: BTreeSet<[String; 3]> = (0..LATER).map(|_| visits()).collect();
    assert_eq!(later.len(), 1, "one is like the other: {later:?}");
    for [ours, sing_box, mihomo] in &later {
        table.row(&["the fifth to the tenth", ours, sing_box, mihomo]);
    }
    table.stands_on_the_page();
}
