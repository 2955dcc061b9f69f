//! What users meet when the member dies that all go through, and no test is due.

use std::collections::BTreeSet;

use super::page::Table;
use super::three::Three;
use super::world::{LOST, TOLERANCE_MS, World, visit};

/// How many requests follow the first: those in which a core may find its way, and those
/// in which it has.
const MEANWHILE: usize = 3;
const LATER: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn g7_what_users_meet_when_a_member_dies_beside_sing_box_and_mihomo() {
    let mut table = Table::new("dying", &["request", "Outwatch", "sing-box", "mihomo"]);
    let mut world = World::new(&["a", "b", "c"]);
    world.answer(&[("a", 300), ("b", 10), ("c", 600)]);
    let cores = Three::start(world.members(), TOLERANCE_MS).await;
    cores.test().await;
    let ports = cores.ports();
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
