//! D: readiness and detours.

use outwatch_engine::{ErrorKind, Input, Outbound, Readiness, State};

use crate::world::{Reply, World, body, not_ready, ok, outbound, refused, seconds, silent};

const MINUTE: u64 = 60_000;

#[test]
fn d1_one_that_is_not_ready_is_tried_every_3_s_and_after_ten_tries_tested_anyway() {
    let mut world = World::new()
        .outbound("a", [not_ready("connecting")])
        .start();
    world.run_to(MINUTE);
    let expected: Vec<u64> = (0..=10).map(|nth| nth * 3_000).collect();
    assert_eq!(world.tests("a"), expected);
    let forced: Vec<bool> = world.url_tests().map(|sent| sent.probe.forced).collect();
    assert_eq!(forced.iter().filter(|&&forced| forced).count(), 1);
    assert_eq!(
        world.confirmed("a").error.map(|error| error.kind),
        Some(ErrorKind::DialTimeout)
    );
}

#[test]
fn d1_waiting_holds_neither_a_worker_nor_the_cycle() {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("a", [not_ready("connecting")])
        .outbound("b", [ok(100)])
        .start();
    world.run_to(200);
    assert_eq!(world.confirmed("b").state, State::Ok);
    assert_eq!(
        world.lines(&["event=cycle_end", "ok=1", "waiting=1"]).len(),
        1
    );
}

#[test]
fn d1_the_count_starts_again_with_a_request() {
    let mut world = World::new()
        .outbound("a", [not_ready("connecting")])
        .start();
    world.run_to(20_000);
    world.ask("a");
    world.run_to(20_000 + 29_000);
    assert!(world.url_tests().all(|sent| !sent.probe.forced));
    world.run_to(20_000 + 30_000);
    assert_eq!(
        world.url_tests().filter(|sent| sent.probe.forced).count(),
        1
    );
}

#[test]
fn d1_one_that_becomes_ready_is_tested_at_once() {
    let mut world = World::new()
        .outbound("a", [not_ready("connecting"), ok(100)])
        .start();
    world.run_to(1_000);
    world.input([Input::OutboundReady("a".into())]);
    world.run_to(2_000);
    assert_eq!(world.tests("a"), [0, 1_000]);
    assert_eq!(
        (world.confirmed("a").state, world.confirmed("a").status_text),
        (State::Ok, None)
    );
}

#[test]
fn d2_the_gate_opens_the_moment_the_detours_result_lands_even_a_failed_one() {
    for (reply, at) in [(ok(300), 300), (refused(700), 700)] {
        let mut world = World::new()
            .outbound("first", [reply])
            .detoured("a", "first", [ok(50)])
            .start();
        world.run_to(2_000);
        assert_eq!(world.tests("a"), [at]);
    }
}

#[test]
fn d2_a_cached_result_opens_no_gate() {
    let mut first = World::new().outbound("first", [ok(300)]).start();
    first.run_to(2_000);
    let mut world = World::new()
        .outbound("first", [ok(300)])
        .detoured("a", "first", [ok(50)])
        .saved(&first.pairs)
        .start();
    assert_eq!(world.confirmed("first").state, State::Cached);
    world.run_to(2_000);
    assert_eq!(world.tests("a"), [300]);
}

#[test]
fn d2_the_gate_is_shut_while_the_leaf_is_tested_again() {
    let mut world = World::new()
        .outbound("first", [ok(300), ok(800), ok(300)])
        .detoured("a", "first", [ok(50)])
        .start();
    world.run_to(MINUTE);
    world.ask("first");
    world.ask("a");
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [300, MINUTE + 800]);
}

#[test]
fn d2_a_detour_group_leads_to_its_selection_or_any_member_opens() {
    for selected in [Some("slow"), None] {
        let mut world = World::new()
            .outbound("slow", [ok(900)])
            .outbound("fast", [ok(100)])
            .group("through", &["slow", "fast"], selected)
            .detoured("a", "through", [ok(50)])
            .start();
        world.run_to(5_000);
        assert_eq!(
            world.tests("a"),
            [if selected.is_some() { 900 } else { 100 }]
        );
    }
}

#[test]
fn d2_a_lookup_waits_for_the_gate_too() {
    let ip = body(50, &crate::world::address("9.9.9.9"));
    let mut world = World::new()
        .options(|options| options.ip_lookup = true)
        .outbound("first", [silent()])
        .url_reply("first", "generate_204", [ok(100), ok(2_000)])
        .detoured("a", "first", [ip])
        .url_reply("a", "generate_204", [ok(50)])
        .start();
    world.run_to(120);
    world.ask("first");
    world.run_to(2_000);
    assert_eq!(world.lookups("a").len(), 0);
    world.run_to(2_500);
    assert_eq!(
        world
            .lookups("a")
            .iter()
            .map(|sent| sent.at)
            .collect::<Vec<_>>(),
        [2_120]
    );
}

#[test]
fn d2_a_chain_is_tested_link_by_link() {
    let mut world = World::new()
        .detoured("c", "b", [ok(10)])
        .detoured("b", "a", [ok(20)])
        .outbound("a", [ok(30)])
        .start();
    world.run_to(1_000);
    assert_eq!(
        (world.tests("a"), world.tests("b"), world.tests("c")),
        (vec![0], vec![30], vec![50])
    );
}

#[test]
fn d1_a_loop_of_detours_ends_by_testing_anyway() {
    let mut world = World::new()
        .detoured("a", "b", [ok(10)])
        .detoured("b", "a", [ok(20)])
        .start();
    world.run_to(29_999);
    assert!(world.sent.is_empty());
    world.run_to(MINUTE);
    assert_eq!((world.tests("a").len(), world.tests("b").len()), (1, 1));
}

#[test]
fn d3_when_an_outbound_works_again_those_tested_through_it_are_tested_again() {
    let mut world = World::new()
        .outbound("first", [refused(100), ok(100)])
        .group("through", &["first"], Some("first"))
        .detoured("a", "first", [refused(50), ok(50)])
        .detoured("b", "through", [refused(50), ok(50)])
        .outbound("other", [ok(50)])
        .start();
    world.run_to(MINUTE);
    world.ask("first");
    world.run_to(2 * MINUTE);
    for tag in ["a", "b"] {
        assert_eq!(world.tests(tag), [100, MINUTE + 100]);
        let line = format!("tag=\"{tag}\" reason=recovered");
        assert_eq!(world.lines(&["event=test ", &line]).len(), 1);
    }
    assert_eq!(world.tests("other").len(), 1);
}

#[test]
fn d3_a_loop_of_detours_that_recovers_comes_to_rest() {
    let mut world = World::new()
        .detoured("a", "b", [refused(10), ok(10)])
        .detoured("b", "a", [refused(20), ok(20)])
        .start();
    world.run_to(6 * MINUTE);
    let before = world.sent.len();
    world.run_to(8 * MINUTE);
    assert!(world.sent.len() <= before + 2, "no endless retests");
    assert!(before < 30);
}

#[test]
fn d4_a_not_ready_outbound_has_no_error_and_keeps_its_last_result() {
    let mut world = World::new()
        .outbound("a", [ok(80), not_ready("reconnecting")])
        .start();
    world.run_to(MINUTE);
    world.ask("a");
    world.run_to(MINUTE + 1_000);
    let report = world.confirmed("a");
    assert_eq!(
        (report.state, report.delay_ms, report.error),
        (State::NotReady, Some(80), None)
    );
    assert_eq!(report.status_text.as_deref(), Some("reconnecting"));
}

#[test]
fn d4_the_error_of_an_earlier_failure_is_not_shown_while_it_is_not_ready() {
    let mut world = World::new()
        .outbound("a", [refused(80), not_ready("reconnecting")])
        .start();
    world.run_to(MINUTE);
    assert!(world.confirmed("a").error.is_some());
    world.input([Input::OutboundReady("a".into())]);
    world.run_to(MINUTE + 1_000);
    assert_eq!(world.confirmed("a").state, State::NotReady);
    assert_eq!(world.confirmed("a").error, None);
}

#[test]
fn d5_a_detour_that_names_nothing_is_reported_once_and_opens_the_gate() {
    let mut world = World::new().detoured("a", "nowhere", [ok(50)]).start();
    world.run_to(11 * MINUTE);
    assert_eq!(world.tests("a")[0], 0);
    assert_eq!(world.lines(&["event=outbounds", "nowhere"]).len(), 1);
}

#[test]
fn d6_a_type_the_core_cannot_dial_is_not_ready_for_good_and_not_tested() {
    let unsupported = Reply::NotReady(Readiness::Unsupported("needs QUIC".into()));
    let mut world = World::new()
        .outbound("a", [unsupported])
        .outbound("b", [ok(50)])
        .start();
    world.run_to(4 * MINUTE);
    assert_eq!(world.tests("a"), [0], "not even every 3 s");
    assert_eq!(world.confirmed("a").state, State::NotReady);
    assert_eq!(
        world.confirmed("a").status_text.as_deref(),
        Some("needs QUIC")
    );
    assert_eq!(world.confirmed("b").state, State::Ok);
}

#[test]
fn d2_a_detour_through_what_is_never_tested_is_open() {
    let block = Outbound {
        kind: outwatch_engine::Kind::Untestable,
        ..outbound("block")
    };
    let mut world = World::new()
        .entry(block)
        .detoured("a", "block", [refused(50)])
        .start();
    world.run_to(1_000);
    assert_eq!(world.tests("a"), [0]);
}

#[test]
fn d2_a_stuck_detour_opens_the_gate_when_it_is_given_up() {
    let mut world = World::new()
        .options(|options| options.url_test_timeout = seconds(1))
        .outbound("first", [Reply::Stuck(None)])
        .detoured("a", "first", [ok(50)])
        .start();
    world.run_to(20_000);
    assert_eq!(world.tests("a"), [5_000]);
}
