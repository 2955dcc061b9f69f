//! Groups whose members do not all carry datagrams.

use super::page::Table;
use super::three::Three;
use super::world::{TOLERANCE_MS, World, datagram, visit};

#[tokio::test(flavor = "multi_thread")]
async fn g5_where_datagrams_go_beside_sing_box_and_mihomo() {
    let columns = ["what a user sends", "Outwatch", "sing-box", "mihomo"];
    let mut table = Table::new("datagrams", &columns);
    let mut world = World::new(&["a", "b", "c"]);
    world.answer(&[("a", 10), ("b", 500), ("c", 1000)]);
    let mut members = world.members();
    members[0].datagrams = false;
    let cores = Three::start(members, TOLERANCE_MS).await;
    let ports = cores.ports();
    for when in ["", ", once b has failed a test"] {
        cores.test().await;
        let [ours, sing_box, mihomo] = ports.map(|port| visit(port, "page.test"));
        table.row(&[&format!("a request{when}"), &ours, &sing_box, &mihomo]);
        let [ours, sing_box, mihomo] = ports.map(datagram);
        let (ours, sing_box, mihomo) = tokio::join!(ours, sing_box, mihomo);
        table.row(&[&format!("a datagram{when}"), &ours, &sing_box, &mihomo]);
        world.die(&["b"]);
    }
    table.stands_on_the_page();
}
