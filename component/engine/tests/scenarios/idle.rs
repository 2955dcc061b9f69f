//! N: activity, idleness, pauses.

use outwatch_engine::{Cause, Input};

use crate::world::{World, not_ready, ok, outbound, seconds};

const MINUTE: u64 = 60_000;

#[test]
fn n1_testing_stops_exactly_after_the_idle_timeout_and_asks_for_no_wake_up() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(10 * MINUTE - 1);
    assert_eq!(world.tests("a"), [0, 5 * MINUTE]);
    assert_eq!(world.wake_at_ms(), Some(10 * MINUTE));
    world.run_to(24 * 60 * MINUTE);
    assert_eq!(world.tests("a"), [0, 5 * MINUTE]);
    assert_eq!(world.wake_at_ms(), None);
    assert_eq!(
        world
            .lines(&["event=idle"])
            .iter()
            .map(|(at, _)| *at)
            .collect::<Vec<_>>(),
        [10 * MINUTE]
    );
}

#[test]
fn n1_the_next_connection_starts_a_cycle_at_once() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(60 * MINUTE);
    world.input([Input::Activity]);
    assert_eq!(world.tests("a").last(), Some(&(60 * MINUTE)));
    world.run_to(66 * MINUTE);
    assert_eq!(world.tests("a").last(), Some(&(65 * MINUTE)));
}

#[test]
fn n1_activity_moves_the_end() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(9 * MINUTE);
    world.input([Input::Activity]);
    world.run_to(60 * MINUTE);
    assert_eq!(world.tests("a"), [0, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE]);
    assert_eq!(
        world
            .lines(&["event=idle"])
            .iter()
            .map(|(at, _)| *at)
            .collect::<Vec<_>>(),
        [19 * MINUTE]
    );
}

#[test]
fn n1_a_cycle_that_runs_when_it_falls_idle_goes_on_after_the_next_connection() {
    let mut world = World::new().options(|options| {
        options.workers = 1;
        options.idle_timeout = seconds(3);
    });
    for tag in ["a", "b", "c", "d", "e"] {
        world = world.outbound(tag, [ok(1_000)]);
    }
    let mut world = world.start();
    world.run_to(MINUTE);
    assert_eq!(world.order(), ["a", "b", "c"]);
    assert_eq!(world.probes_out(), 0);
    world.input([Input::Activity]);
    world.run_to(2 * MINUTE);
    assert_eq!(world.order(), ["a", "b", "c", "d", "e"]);
    assert_eq!(world.tests("a").len(), 1, "it is fresh");
}

#[test]
fn n1_one_that_waits_is_left_alone_while_idle() {
    let mut world = World::new()
        .options(|options| options.idle_timeout = seconds(4))
        .outbound("a", [not_ready("connecting")])
        .start();
    world.run_to(MINUTE);
    assert_eq!(world.tests("a"), [0, 3_000]);
    assert_eq!(world.wake_at_ms(), None);
    world.input([Input::OutboundReady("a".into())]);
    assert_eq!(world.tests("a").len(), 2, "and when it becomes ready");
}

#[test]
fn n1_an_interval_longer_than_the_idle_timeout_is_kept() {
    let mut world = World::new()
        .options(|options| options.interval = seconds(3_600))
        .outbound("a", [ok(80)])
        .start();
    world.run_to(30 * MINUTE);
    world.input([Input::Activity]);
    world.run_to(31 * MINUTE);
    assert_eq!(
        world.tests("a"),
        [0],
        "its result is not older than the interval"
    );
}

#[test]
fn n3_a_failed_connection_of_a_user_wakes_a_test_does_not() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(60 * MINUTE);
    world.ask("a");
    world.run_to(90 * MINUTE);
    assert_eq!(world.wake_at_ms(), None);
    world.connection_failed("a", Cause::Member);
    assert!(world.wake_at_ms().is_some());
}

#[test]
fn n5_paused_means_no_tests_but_those_asked_for_and_resume_is_a_network_change() {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("a", [ok(1_000)])
        .outbound("b", [ok(1_000)])
        .outbound("c", [ok(1_000)])
        .start();
    world.run_to(500);
    world.input([Input::Pause]);
    world.run_to(MINUTE);
    let ticket = world.ask("c");
    world.run_to(2 * MINUTE);
    assert_eq!(world.order(), ["a", "c"]);
    assert_eq!(world.verdict(ticket), Some((MINUTE + 1_000, Ok(1_000))));
    world.input([Input::Resume]);
    world.run_to(3 * MINUTE);
    assert_eq!(world.tests("b"), [2 * MINUTE + 4_000]);
    assert_eq!(world.lines(&["event=test ", "reason=resume"]).len(), 3);
}

#[test]
fn n5_resume_without_pause_is_nothing() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(MINUTE);
    world.input([Input::Resume]);
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0]);
}

#[test]
fn n1_other_outbounds_that_come_while_idle_wait_for_activity() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.replies("b", [ok(80)]);
    world.run_to(20 * MINUTE);
    world.reload(vec![outbound("a"), outbound("b")], Vec::new());
    world.run_to(30 * MINUTE);
    assert!(world.tests("b").is_empty());
    assert_eq!(world.wake_at_ms(), None);
    world.input([Input::Activity]);
    assert_eq!(world.tests("b"), [30 * MINUTE]);
}
