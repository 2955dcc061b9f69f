//! Groups that lead to one member: by the same answers, told to all in the same order.

use std::sync::{Arc, Mutex};

use outwatch::MemoryCache;
use outwatch_tests::peers::{Core, Member, Rival};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::ours::Ours;
use super::page::Table;
use super::world::{URL, World};

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

/// Three cores with a group `auto` of the same members.
struct Cores {
    members: Vec<Member>,
    cache: Arc<MemoryCache>,
    ours: Ours,
    rivals: [Arc<Mutex<Rival>>; 2],
}

impl Cores {
    async fn start(members: Vec<Member>) -> Self {
        let sing_box = json!({
            "type": "urltest", "tag": "auto", "tolerance": TOLERANCE_MS,
            "url": URL, "interval": "1h", "idle_timeout": "1h",
        });
        let mihomo = json!({
            "type": "url-test", "name": "auto", "tolerance": TOLERANCE_MS,
            "url": URL, "interval": 3600,
        });
        let rivals = [(Core::SingBox, sing_box), (Core::Mihomo, mihomo)];
        let rivals = rivals
            .map(|(core, group)| Arc::new(Mutex::new(Rival::start(core, &members, &[group]))));
        let cache = Arc::new(MemoryCache::default());
        let ours = Self::ours(&members, &cache).await;
        Self {
            members,
            cache,
            ours,
            rivals,
        }
    }

    async fn ours(members: &[Member], cache: &Arc<MemoryCache>) -> Ours {
        let group = json!({ "type": "urltest", "tag": "auto", "tolerance": TOLERANCE_MS });
        Ours::start(members, &[group], Arc::clone(cache)).await
    }

    /// Has each test every member once, and tells where each leads then.
    async fn test(&self, table: &mut Table, what: &str) {
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
        self.tell(table, what);
    }

    fn tell(&self, table: &mut Table, what: &str) {
        let of = |rival: &Arc<Mutex<Rival>>| rival.lock().expect("a rival").now("auto");
        let [sing_box, mihomo] = self.rivals.each_ref().map(of);
        table.row(&[what, &self.ours.now("auto"), &sing_box, &mihomo]);
    }

    async fn start_again(&mut self) {
        self.ours = Self::ours(&self.members, &self.cache).await;
        for rival in &self.rivals {
            rival.lock().expect("a rival").starts_again();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn g5_the_choice_of_a_member_beside_sing_box_and_mihomo() {
    let mut table = Table::new("one", &["the tests find", "Outwatch", "sing-box", "mihomo"]);
    let mut world = World::new(&["a", "b", "c"]);
    let mut cores = Cores::start(world.members()).await;
    for (what, answer, die) in STORY {
        world.answer(answer);
        world.die(die);
        cores.test(&mut table, what).await;
    }
    world.answer(&["a", "b", "c"].map(|name| (name, NOT_YET_MS)));
    cores.start_again().await;
    cores.tell(&mut table, "nothing yet, at the next start");
    table.stands_on_the_page();
}
