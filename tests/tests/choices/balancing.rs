//! Groups that spread connections over their members.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};

use outwatch::MemoryCache;
use outwatch_tests::peers::{Core, Member, Rival};
use serde_json::json;

use super::ours::Ours;
use super::page::Table;
use super::world::{URL, World, visit};

/// Groups by the strategy that both cores call so, and the place of each.
const STRATEGIES: [&str; 3] = ["round-robin", "consistent-hashing", "sticky-sessions"];
const TURN: usize = 0;
const HASH: usize = 1;
const STICK: usize = 2;

/// Members up to so many times slower than the fastest get connections from Outwatch.
const RATIO: u32 = 5;

/// Slower than that, whatever load adds to the fastest.
const SLOW_MS: u64 = 1_500;

/// How many requests are made in a row.
const REQUESTS: usize = 8;

/// How many domains are visited: enough for each member to have some.
const DOMAINS: usize = 32;

/// Two cores with the same groups of the same members.
struct Cores {
    ours: Ours,
    mihomo: Rival,
}

impl Cores {
    async fn start(members: &[Member]) -> Self {
        let ours = STRATEGIES.map(|strategy| {
            json!({
                "type": "balancer", "tag": strategy, "strategy": strategy,
                "delay_acceptable_ratio": RATIO,
            })
        });
        let mihomo = STRATEGIES.map(|strategy| {
            json!({
                "type": "load-balance", "name": strategy, "strategy": strategy,
                "url": URL, "interval": 3600,
            })
        });
        Self {
            ours: Ours::start(members, &ours, Arc::new(MemoryCache::default())).await,
            mihomo: Rival::start(Core::Mihomo, members, &mihomo),
        }
    }

    /// Has each test every member once.
    async fn test(&self) {
        for group in STRATEGIES {
            self.ours.tests(group).await;
            self.mihomo.tests(group, URL);
        }
    }

    /// What is seen through each core's inbound of a group.
    fn each<T>(&self, group: usize, seen: impl Fn(u16) -> T) -> [T; 2] {
        [self.ours.port(group), self.mihomo.port(group)].map(seen)
    }
}

/// The member that carried a request to each of these sites, made all at once.
fn visits(port: u16, sites: impl Iterator<Item = String>) -> Vec<String> {
    thread::scope(|scope| {
        let visits: Vec<_> = sites
            .map(|site| scope.spawn(move || visit(port, &site)))
            .collect();
        let carried = visits.into_iter().map(ScopedJoinHandle::join);
        carried.map(|member| member.expect("a visit")).collect()
    })
}

/// The members that carried requests to these sites.
fn members(port: u16, sites: impl Iterator<Item = String>) -> BTreeSet<String> {
    visits(port, sites).into_iter().collect()
}

fn one_site() -> impl Iterator<Item = String> {
    std::iter::repeat_n("page.test".to_owned(), REQUESTS)
}

fn names_of_one_domain() -> impl Iterator<Item = String> {
    (0..REQUESTS).map(|nth| format!("name{nth}.domain.test"))
}

fn domains() -> impl Iterator<Item = String> {
    (0..DOMAINS).map(|nth| format!("www.domain{nth}.test"))
}

/// Of the destinations that were not at `c`, how many moved when it died.
fn moved_without_need(before: &[String], meanwhile: &[String]) -> usize {
    let pairs = before.iter().zip(meanwhile);
    pairs
        .filter(|(before, meanwhile)| *before != "c" && before != meanwhile)
        .count()
}

/// Whether the destinations that were at `c` are there again.
fn returned(before: &[String], after: &[String]) -> &'static str {
    let pairs = before.iter().zip(after);
    let of_c = pairs.filter(|(before, _)| *before == "c");
    let returned: Vec<bool> = of_c.map(|(_, after)| after == "c").collect();
    match (returned.contains(&true), returned.contains(&false)) {
        (true, false) => "yes",
        (false, true) => "no",
        (true, true) => "some",
        (false, false) => "there were none",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn g6_how_connections_are_spread_beside_mihomo() {
    let mut table = Table::new("many", &["strategy", "what is seen", "Outwatch", "mihomo"]);
    let mut row = |group: usize, what: &str, [ours, mihomo]: [String; 2]| {
        table.row(&[STRATEGIES[group], what, &ours, &mihomo]);
    };
    let mut world = World::new(&["a", "b", "c", "d"]);
    world.answer(&[("a", 10), ("b", 50), ("c", 20), ("d", SLOW_MS)]);
    let cores = Cores::start(&world.members()).await;
    cores.test().await;
    let joined = |members: BTreeSet<String>| Vec::from_iter(members).join(" ");
    let seen = cores.each(TURN, |port| joined(members(port, one_site())));
    row(
        TURN,
        "members that get connections, where d is far slower than the others",
        seen,
    );
    world.answer(&[("d", 10)]);
    cores.test().await;
    for group in [HASH, STICK] {
        let seen = cores.each(group, |port| members(port, one_site()).len());
        assert_eq!(seen, [1, 1], "one destination has one member");
        let seen = cores.each(group, |port| members(port, names_of_one_domain()).len());
        row(
            group,
            "members of eight names of one domain, for one source",
            seen.map(|count| count.to_string()),
        );

        let places = || cores.each(group, |port| visits(port, domains()));
        let before = places();
        world.die(&["c"]);
        cores.test().await;
        let meanwhile = places();
        world.answer(&[("c", 20)]);
        cores.test().await;
        let after = places();
        row(
            group,
            "destinations that move when c dies and that were not at c",
            [0, 1].map(|core| moved_without_need(&before[core], &meanwhile[core]).to_string()),
        );
        row(
            group,
            "destinations that were at c are at c again when it is back",
            [0, 1].map(|core| returned(&before[core], &after[core]).to_owned()),
        );
    }
    table.stands_on_the_page();
}
