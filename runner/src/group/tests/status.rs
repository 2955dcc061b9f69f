//! How groups tell that they stand, and when that changes.

use super::{Scene, cached, failed, ok};
use crate::group::{GroupPlan, GroupStatus, Policy};
use crate::proxy_core::{Network, Outbound};
use crate::store::MemoryCache;
use std::sync::Arc;

const LOWEST: Policy = Policy::LowestDelay { tolerance_ms: 50 };

fn status(scene: &Scene) -> GroupStatus {
    scene.groups.status("g").expect("a group")
}

fn why(scene: &Scene) -> String {
    status(scene).why().expect("a reason")
}

#[test]
fn g5_what_was_decided_is_told_in_words_and_for_programs() {
    let scene = Scene::new(LOWEST, &["a", "b", "c"]);
    assert_eq!(status(&scene).why(), None, "nothing was decided yet");
    assert_eq!(status(&scene).tcp.as_deref(), Some("a"));

    scene.hears(&[cached("a", 10), cached("b", 5)]);
    assert_eq!(
        why(&scene),
        "kept `a` (10 ms in an earlier run): `b` (5 ms in an earlier run) is not faster by more \
         than the tolerance of 50 ms"
    );
    scene.hears(&[ok("c", 300, 1)]);
    assert!(why(&scene).starts_with("took `c` (300 ms): the one before has worked in an earlier"));
    scene.hears(&[ok("b", 90, 2)]);
    assert!(why(&scene).starts_with("took `b` (90 ms): it is faster than the one before"));
    scene.hears(&[ok("c", 80, 3)]);
    assert!(why(&scene).starts_with("kept `b` (90 ms): `c` (80 ms) is not faster"));
    let decision = status(&scene).tcp_decision.expect("a decision");
    assert_eq!(
        (decision.taken, decision.reason),
        (false, "within-tolerance")
    );
    assert_eq!(
        (decision.member.as_str(), decision.delay_ms),
        ("b", Some(90))
    );
    let fastest = (decision.fastest.as_deref(), decision.fastest_ms);
    assert_eq!(fastest, (Some("c"), Some(80)));
    scene.hears(&[failed("b")]);
    assert!(why(&scene).starts_with("took `c` (80 ms): the one before does not work"));
    scene.hears(&[failed("a"), failed("c")]);
    assert_eq!(why(&scene), "kept `c`: no member is known to work");
}

#[test]
fn tcp_and_udp_are_told_apart_where_they_lead_apart() {
    let mut carries_both = Outbound::new("b", "x");
    carries_both.networks = vec![Network::Tcp, Network::Udp];
    let scene = Scene::of(LOWEST, vec![Outbound::new("a", "x"), carries_both]);
    scene.hears(&[ok("a", 20, 1), ok("b", 30, 1)]);
    let status = status(&scene);
    assert_eq!(
        (status.tcp.as_deref(), status.udp.as_deref()),
        (Some("a"), Some("b"))
    );
    assert_eq!(
        status.why().as_deref(),
        Some("kept `a` (20 ms): it is the fastest; for UDP kept `b` (30 ms): it is the fastest")
    );
}

#[test]
fn every_kind_of_group_tells_how_it_chooses() {
    let sticky = Policy::StickySessions {
        ratio: 2.0,
        ttl: std::time::Duration::from_secs(1),
    };
    for (policy, words) in [
        (Policy::RoundRobin { ratio: 2.0 }, "next member"),
        (Policy::ConsistentHashing, "one domain"),
        (sticky, "each destination"),
    ] {
        let scene = Scene::new(policy, &["a", "b"]);
        assert!(why(&scene).contains(words));
        let status = status(&scene);
        assert_eq!((status.tcp, status.udp), (None, None));
        assert_eq!(status.members, ["a", "b"]);
    }
    let scene = Scene::new(Policy::Selected, &["a", "b"]);
    assert!(status(&scene).selectable());
    assert_eq!(status(&scene).why(), None, "a person chose");
}

#[test]
fn whoever_watches_hears_of_results_and_of_choices() {
    let plan = GroupPlan::new("g", Policy::Selected);
    let members = ["a", "b"].map(|tag| Outbound::new(tag, "x"));
    let scene = Scene::built(plan, members.into(), Arc::new(MemoryCache::default()));
    let mut changes = scene.groups.changes();
    assert!(!changes.has_changed().unwrap());
    scene.hears(&[ok("no member", 5, 1)]);
    assert!(!changes.has_changed().unwrap(), "it concerns no group");
    scene.hears(&[ok("a", 5, 1)]);
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    scene.groups.select("g", "b").unwrap();
    assert!(changes.has_changed().unwrap());
}
