//! G-6, G-7: how a balancer spreads connections, and whom it tries next.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::{Core, Scene, cached, failed, ok};
use crate::group::{Flow, GroupPlan, Groups, Policy};
use crate::proxy_core::{Host, Network, Outbound};
use crate::store::MemoryCache;

const ROUND_ROBIN: Policy = Policy::RoundRobin { ratio: 2.0 };
const STICKY: Policy = Policy::StickySessions {
    ratio: 2.0,
    ttl: Duration::from_secs(600),
};
const FOUR: [&str; 4] = ["x.test"; 4];

#[test]
fn g6_round_robin_rotates_over_the_members_that_are_fast_enough() {
    let scene = Scene::new(ROUND_ROBIN, &["a", "b", "slow", "c", "old"]);
    scene.hears(&[ok("a", 90, 1), ok("b", 200, 1), ok("slow", 201, 1)]);
    scene.hears(&[ok("c", 150, 1), cached("old", 5)]);
    // G-4: twice 100 ms, since the fastest is faster than that.
    assert_eq!(scene.tags(FOUR), ["a", "b", "c", "a"]);
    assert_eq!(scene.lead(), None, "it leads to none of them");
}

#[test]
fn g6_dead_members_are_skipped_while_another_lives_and_all_are_tried_when_none_does() {
    let scene = Scene::new(ROUND_ROBIN, &["a", "b", "c"]);
    assert_eq!(scene.tags(FOUR), ["a", "b", "c", "a"], "before any result");
    scene.hears(&[failed("a"), ok("b", 50, 1), failed("c")]);
    assert_eq!(scene.tags(FOUR), ["b"; 4]);
    scene.hears(&[failed("b")]);
    assert_eq!(scene.tags(FOUR).iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn g6_consistent_hashing_gives_one_member_to_all_names_of_a_domain() {
    let scene = Scene::new(Policy::ConsistentHashing, &["a", "b", "c", "d"]);
    let of_one = ["example.co.uk", "www.example.co.uk", "A.B.Example.co.uk."];
    let tags: BTreeSet<String> = scene.tags(of_one).into_iter().collect();
    assert_eq!(tags.len(), 1);
    let many: Vec<String> = (0..100).map(|nth| format!("site-{nth}.co.uk")).collect();
    let many = scene.tags(many.iter().map(String::as_str));
    assert_eq!(many.iter().collect::<BTreeSet<_>>().len(), 4);
    assert_eq!(scene.tags(["192.0.2.7"]), scene.tags(["192.0.2.7"]));
}

#[test]
fn g6_only_the_keys_of_a_member_that_died_move_and_they_come_back() {
    let scene = Scene::new(Policy::ConsistentHashing, &["a", "b", "c"]);
    scene.hears(&[ok("a", 10, 1), ok("b", 900, 1), ok("c", 500, 1)]);
    let names: Vec<String> = (0..200).map(|nth| format!("site-{nth}.test")).collect();
    let all = || scene.tags(names.iter().map(String::as_str));
    let before = all();
    assert!(scene.tags(FOUR).iter().all(|tag| !tag.is_empty()));
    scene.hears(&[failed("b")]);
    let without = all();
    for (before, without) in before.iter().zip(&without) {
        assert_ne!(without, "b");
        assert!(before == "b" || before == without, "{before} -> {without}");
    }
    scene.hears(&[ok("b", 2_000, 2)]);
    assert_eq!(all(), before);
}

#[tokio::test(start_paused = true)]
async fn g6_a_sticky_session_stays_until_its_member_dies_or_it_was_unused_for_its_time() {
    let scene = Scene::new(STICKY, &["a", "b", "c"]);
    scene.hears(&[ok("a", 10, 1), ok("b", 20, 1), ok("c", 30, 1)]);
    let get = |source, to| scene.pick_from(source, to, &[]).unwrap().tag;
    assert_eq!(get("192.0.2.1", "x.test"), "a");
    assert_eq!(get("192.0.2.1", "y.test"), "b");
    assert_eq!(get("192.0.2.2", "x.test"), "c");
    scene.hears(&[ok("a", 5_000, 2)]);
    assert_eq!(get("192.0.2.1", "x.test"), "a", "slow, but alive");
    scene.hears(&[failed("b")]);
    assert_eq!(get("192.0.2.1", "y.test"), "c", "its member died");
    assert_eq!(get("192.0.2.2", "x.test"), "c", "the others do not move");
    tokio::time::advance(Duration::from_secs(599)).await;
    assert_eq!(get("192.0.2.1", "x.test"), "a");
    tokio::time::advance(Duration::from_secs(600)).await;
    assert_eq!(get("192.0.2.1", "x.test"), "c", "a new one avoids the slow");
}

#[test]
fn g7_another_member_is_picked_for_a_retry_as_long_as_there_is_one() {
    let lowest = Policy::LowestDelay { tolerance_ms: 50 };
    for policy in [lowest, ROUND_ROBIN, Policy::ConsistentHashing, STICKY] {
        let scene = Scene::new(policy, &["a", "b", "c"]);
        scene.hears(&[ok("a", 10, 1), ok("b", 20, 1)]);
        let first = scene.pick("x.test").unwrap();
        assert_eq!((first.groups, first.retries), (vec!["g".to_owned()], 1));
        let second = scene.pick_from("192.0.2.1", "x.test", &[&first.tag]);
        let second = second.unwrap().tag;
        let both = BTreeSet::from([first.tag.as_str(), second.as_str()]);
        assert_eq!(both, BTreeSet::from(["a", "b"]), "{policy:?}");
        let third = scene.pick_from("192.0.2.1", "x.test", &["a", "b"]);
        assert_eq!(
            third.unwrap().tag,
            "c",
            "{policy:?}: a dead one is better than none"
        );
        let none = scene.pick_from("192.0.2.1", "x.test", &["a", "b", "c"]);
        assert!(none.is_none());
    }
}

#[test]
fn g7_a_persons_choice_is_not_tried_elsewhere() {
    let scene = Scene::new(Policy::Selected, &["a", "b"]);
    let pick = scene.pick("x.test").unwrap();
    assert_eq!((pick.tag.as_str(), pick.retries), ("a", 0));
    assert!(scene.pick_from("192.0.2.1", "x.test", &["a"]).is_none());
}

/// A core of outbounds `a` to `c` and these groups.
fn nested(groups: &[(&str, Policy, &[&str])]) -> Groups {
    let outbounds = ["a", "b", "c"].map(|tag| Outbound::new(tag, "x"));
    let listed = groups
        .iter()
        .map(|(tag, _, members)| Outbound::group(*tag, "x", members.iter().copied()));
    let core = Core {
        listed: outbounds.into_iter().chain(listed).collect(),
        ..Core::default()
    };
    let plans = groups
        .iter()
        .map(|(tag, policy, _)| GroupPlan::new(*tag, *policy));
    Groups::new(Arc::new(core), plans, Arc::new(MemoryCache::default()))
}

fn flow(destination: &Host) -> Flow<'_> {
    Flow {
        source: None,
        destination,
    }
}

#[test]
fn g6_a_group_may_lead_through_others_and_a_retry_leaves_the_inner_one() {
    let groups = nested(&[
        ("inner", Policy::Selected, &["b"]),
        ("outer", ROUND_ROBIN, &["inner", "c"]),
    ]);
    let to = Host::Name("x.test".into());
    let pick = |tried: &[&str]| {
        let tried = tried.iter().map(|&tag| tag.to_owned()).collect();
        groups.pick("outer", Network::Tcp, flow(&to), &tried)
    };
    let first = pick(&[]).unwrap();
    assert_eq!(first.tag, "b");
    assert_eq!(
        (first.groups, first.retries),
        (vec!["outer".to_owned(), "inner".to_owned()], 1)
    );
    assert_eq!(pick(&["b"]).unwrap().tag, "c");
    assert!(pick(&["b", "c"]).is_none());
}

#[test]
fn g7_a_retry_leaves_an_inner_group_of_which_only_the_dead_are_left() {
    let lowest = Policy::LowestDelay { tolerance_ms: 50 };
    for outer in [lowest, ROUND_ROBIN, Policy::ConsistentHashing, STICKY] {
        let groups = nested(&[
            ("inner", lowest, &["a", "b"]),
            ("outer", outer, &["inner", "c"]),
        ]);
        groups.observe(&[ok("a", 10, 1), failed("b"), ok("c", 40, 1)]);
        groups.observe(&[ok("inner", 10, 1)]);
        let to = Host::Name("x.test".into());
        let pick = |tried: &[&str]| {
            let tried = tried.iter().map(|&tag| tag.to_owned()).collect();
            let pick = groups.pick("outer", Network::Tcp, flow(&to), &tried);
            pick.map(|pick| pick.tag)
        };
        for _ in 0..4 {
            assert_eq!(pick(&["a"]).as_deref(), Some("c"), "{outer:?}");
        }
        let rest = pick(&["a", "c"]);
        assert_eq!(rest.as_deref(), Some("b"), "better than none: {outer:?}");
        assert_eq!(pick(&["a", "b", "c"]), None);
    }
}

#[test]
fn f5_a_loop_of_groups_leads_nowhere_and_ends() {
    let groups = nested(&[
        ("one", Policy::Selected, &["two"]),
        ("two", ROUND_ROBIN, &["one"]),
    ]);
    let to = Host::Name("x.test".into());
    assert!(
        groups
            .pick("one", Network::Tcp, flow(&to), &BTreeSet::new())
            .is_none()
    );
    let alone = groups.pick("a", Network::Tcp, flow(&to), &BTreeSet::new());
    assert_eq!(alone.unwrap().groups, Vec::<String>::new());
}
