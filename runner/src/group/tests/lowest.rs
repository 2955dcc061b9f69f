//! G-4, G-5: which member a lowest-delay group keeps or takes.

use super::{Scene, cached, failed, ok, untested};
use crate::group::line::line;
use crate::group::state::State;
use crate::group::{GroupPlan, Policy};
use crate::proxy_core::{Network, Outbound, ProxyCore as _};

const LOWEST: Policy = Policy::LowestDelay { tolerance_ms: 50 };

fn scene() -> Scene {
    Scene::new(LOWEST, &["a", "b", "c"])
}

#[test]
fn g5_before_any_result_the_first_member_leads_and_later_the_saved_pick() {
    let scene = scene();
    assert_eq!(scene.lead().as_deref(), Some("a"));
    assert!(scene.hears(&[failed("a"), ok("c", 80, 1)]));
    let restarted = scene.restarted();
    assert_eq!(restarted.lead().as_deref(), Some("c"));
}

#[test]
fn g5_a_saved_pick_that_is_no_member_any_more_is_forgotten() {
    let scene = scene();
    assert!(scene.hears(&[failed("a"), ok("c", 80, 1)]));
    let without = Scene::built(
        GroupPlan::new("g", LOWEST),
        vec![Outbound::new("a", "x"), Outbound::new("b", "x")],
        scene.cache,
    );
    assert_eq!(without.lead().as_deref(), Some("a"));
}

#[test]
fn g5_a_current_member_that_fails_gives_way_at_once_to_the_best_usable() {
    let scene = scene();
    scene.hears(&[ok("a", 50, 1), ok("b", 90, 1), ok("c", 70, 1)]);
    assert!(scene.hears(&[failed("a")]));
    assert_eq!(scene.lead().as_deref(), Some("c"));
    assert_eq!(scene.tags(["x.test"]), ["c"]);
}

#[test]
fn g5_when_none_is_usable_the_current_one_is_kept() {
    let scene = scene();
    scene.hears(&[ok("b", 10, 1), failed("a")]);
    assert_eq!(scene.lead().as_deref(), Some("b"));
    assert!(!scene.hears(&[failed("b"), failed("c"), untested("a")]));
    assert_eq!(scene.lead().as_deref(), Some("b"));
}

#[test]
fn g5_a_current_member_that_is_only_cached_gives_way_to_a_fresh_success_however_slow() {
    let scene = scene();
    assert!(!scene.hears(&[cached("a", 10), cached("b", 12)]));
    assert!(scene.hears(&[ok("b", 25_000, 1)]));
    assert_eq!(scene.lead().as_deref(), Some("b"));
}

#[test]
fn g5_a_faster_member_is_taken_only_beyond_the_tolerance() {
    let scene = scene();
    scene.hears(&[ok("a", 150, 1), ok("b", 100, 1)]);
    assert_eq!(scene.lead().as_deref(), Some("a"), "50 ms are within it");
    assert!(scene.hears(&[ok("b", 99, 2)]));
    assert_eq!(scene.lead().as_deref(), Some("b"));
}

#[test]
fn g5_a_tolerance_of_zero_is_zero_and_ties_go_by_config_order() {
    let scene = Scene::new(Policy::LowestDelay { tolerance_ms: 0 }, &["a", "b", "c"]);
    scene.hears(&[failed("a"), ok("c", 80, 1), ok("b", 80, 1)]);
    assert_eq!(scene.lead().as_deref(), Some("b"));
    assert!(!scene.hears(&[ok("c", 80, 2)]));
    assert!(scene.hears(&[ok("c", 79, 3)]));
    assert_eq!(scene.lead().as_deref(), Some("c"));
}

#[test]
fn g5_one_slow_test_under_load_moves_nothing_and_two_do() {
    let scene = scene();
    scene.hears(&[ok("a", 60, 1), ok("b", 90, 1)]);
    assert!(!scene.hears(&[ok("a", 900, 2)]));
    assert!(scene.hears(&[ok("a", 900, 3)]));
    assert_eq!(scene.lead().as_deref(), Some("b"));
}

#[test]
fn g5_a_faster_lookup_of_the_same_test_is_no_second_measurement() {
    let scene = scene();
    scene.hears(&[ok("a", 60, 1), ok("b", 90, 1)]);
    // T-8: one test, told twice.
    assert!(!scene.hears(&[ok("a", 950, 2)]));
    assert!(!scene.hears(&[ok("a", 900, 2)]));
    assert!(scene.hears(&[ok("a", 900, 3)]));
}

#[test]
fn g5_what_was_measured_before_a_failure_or_through_another_outbound_counts_no_more() {
    let scene = scene();
    scene.hears(&[ok("a", 60, 1), ok("b", 90, 1)]);
    scene.hears(&[failed("a"), failed("b"), ok("a", 900, 3), ok("b", 90, 3)]);
    assert_eq!(scene.lead().as_deref(), Some("b"));
    let through = |via: &str, delay, second| crate::Report {
        via: Some(via.into()),
        ..ok("b", delay, second)
    };
    assert!(!scene.hears(&[through("one", 60, 4), ok("a", 200, 4)]));
    assert!(scene.hears(&[through("two", 900, 5)]));
    assert_eq!(scene.lead().as_deref(), Some("a"));
}

#[test]
fn g4_a_cached_result_is_20_seconds_slower_and_nothing_overflows() {
    let scene = scene();
    scene.hears(&[cached("a", u32::MAX), cached("b", u32::MAX - 51)]);
    assert_eq!(scene.lead().as_deref(), Some("b"));
    assert!(scene.hears(&[ok("c", u32::MAX, 1)]));
    assert_eq!(scene.lead().as_deref(), Some("c"));
}

#[test]
fn g5_tcp_and_udp_are_decided_apart() {
    let both = |tag: &str| Outbound {
        networks: vec![Network::Tcp, Network::Udp],
        ..Outbound::new(tag, "x")
    };
    let members = vec![Outbound::new("a", "x"), both("b"), both("c")];
    let scene = Scene::of(LOWEST, members);
    let lead = |network| scene.core.selected("g", network);
    assert_eq!(lead(Network::Tcp).as_deref(), Some("a"));
    assert_eq!(lead(Network::Udp).as_deref(), Some("b"));
    scene.hears(&[ok("a", 10, 1), ok("b", 900, 1), ok("c", 100, 1)]);
    assert_eq!(lead(Network::Tcp).as_deref(), Some("a"));
    assert_eq!(lead(Network::Udp).as_deref(), Some("c"));
}

#[test]
fn l1_a_decision_is_one_line_with_the_member_the_fastest_and_the_reason() {
    let members = ["a \"b\"", "c"].map(|tag| Outbound::new(tag, "x"));
    let plan = GroupPlan::new("auto 🇩🇪", LOWEST);
    let mut state = State::new(plan, members.iter());
    state.begin(Network::Tcp, None);
    let mut said = |reports: &[crate::Report]| {
        for (member, report) in reports.iter().enumerate() {
            state.take(member, report);
        }
        let (decision, news) = state.decide(Network::Tcp)?;
        state.turn_to(Network::Tcp, decision.member);
        news.then(|| line(&state, Network::Tcp, decision))
    };
    let start = r#"LOWEST event=kept group="auto 🇩🇪" network=tcp reason="#;
    let none = format!(r#"{start}none-works member="a \"b\"""#);
    assert_eq!(said(&[failed("a"), failed("b")]), Some(none));
    assert_eq!(said(&[failed("a"), failed("b")]), None, "it was said");
    let kept = r#"within-tolerance member="a \"b\"" delay_ms=90 fastest="c" fastest_ms=60"#;
    let within = said(&[ok("a", 90, 1), ok("b", 60, 1)]);
    assert_eq!(within, Some(format!("{start}{kept}")));
    let taken = r#"reason=current-failed member="c" delay_ms=60 fastest="c" fastest_ms=60"#;
    let gone = said(&[failed("a"), ok("b", 60, 1)]).expect("news");
    assert!(
        gone.ends_with(taken) && gone.starts_with("LOWEST event=taken"),
        "{gone}"
    );
}

#[test]
fn g5_a_move_ends_connections_only_where_the_group_is_to_interrupt_them() {
    for interrupts in [true, false] {
        let plan = GroupPlan {
            interrupts,
            ..GroupPlan::new("g", LOWEST)
        };
        let members = vec![Outbound::new("a", "x"), Outbound::new("b", "x")];
        let scene = Scene::built(plan, members, Default::default());
        let before = scene.pick("x.test").unwrap();
        scene.hears(&[failed("a"), ok("b", 10, 1)]);
        let after = scene.pick("x.test").unwrap();
        let ended = |pick: &crate::group::Pick| pick.cuts.iter().any(|cut| cut.is_cancelled());
        assert_eq!((ended(&before), ended(&after)), (interrupts, false));
    }
}
