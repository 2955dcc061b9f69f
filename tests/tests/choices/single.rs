//! Groups that lead to one member: by the same answers, told to all in the same order.

use super::page::Table;
use super::three::Three;
use super::world::World;

/// In milliseconds. What decides is clear by half of it, which is more than load adds to
/// an answer.
const TOLERANCE_MS: u64 = 500;

/// So late that nothing else has happened meanwhile.
const NOT_YET_MS: u64 = 600_000;

/// What the tests find, the members that answer from now on with their delays, and those
/// that fail from now on.
type Step = (
    &'static str,
    &'static [(&'static str, u64)],
    &'static [&'static str],
);

const STORY: [Step; 16] = [
    ("nothing works yet", &[], &[]),
    (
        "the first answers: a 900, b 800, c 850",
        &[("a", 900), ("b", 800), ("c", 850)],
        &[],
    ),
    ("a 1600, c 1000", &[("a", 1600), ("c", 1000)], &[]),
    (
        "c 700: faster than b, by less than the tolerance",
        &[("c", 700)],
        &[],
    ),
    ("c 50: faster by more", &[("c", 50)], &[]),
    ("c 1600: late, once", &[("c", 1600)], &[]),
    ("c 50: as before", &[("c", 50)], &[]),
    ("c 1600", &[("c", 1600)], &[]),
    ("c 1600: late twice in a row", &[], &[]),
    ("c 700", &[("c", 700)], &[]),
    ("b fails", &[], &["b"]),
    ("b 800: back, as fast as before", &[("b", 800)], &[]),
    ("a and b fail", &[], &["a", "b"]),
    ("c fails: none works", &[], &["c"]),
    ("b 800: back, alone", &[("b", 800)], &[]),
    (
        "a 1600, c 700: back, and c faster by less than the tolerance",
        &[("a", 1600), ("c", 700)],
        &[],
    ),
];

/// Writes down where each leads.
fn tell(table: &mut Table, what: &str, cores: &Three) {
    let [ours, sing_box, mihomo] = cores.now();
    table.row(&[what, &ours, &sing_box, &mihomo]);
}

#[tokio::test(flavor = "multi_thread")]
async fn g5_the_choice_of_a_member_beside_sing_box_and_mihomo() {
    let mut table = Table::new("one", &["the tests find", "Outwatch", "sing-box", "mihomo"]);
    let mut world = World::new(&["a", "b", "c"]);
    let mut cores = Three::start(world.members(), TOLERANCE_MS).await;
    for (what, answer, die) in STORY {
        world.answer(answer);
        world.die(die);
        cores.test().await;
        tell(&mut table, what, &cores);
    }
    world.answer(&["a", "b", "c"].map(|name| (name, NOT_YET_MS)));
    cores.start_again().await;
    tell(&mut table, "nothing yet, at the next start", &cores);
    table.stands_on_the_page();
}
