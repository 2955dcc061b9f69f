//! E: changes of the network.

use outwatch_engine::{Cause, Input, Scope, State, View};

use crate::world::{World, ok, refused, silent};

const MINUTE: u64 = 60_000;

#[test]
fn e4_n4_when_the_network_changes_everything_is_tested_again_2_s_after_the_last_change() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .outbound("b", [ok(80)])
        .start();
    world.run_to(MINUTE);
    world.input([Input::NetworkChanged]);
    world.run_to(MINUTE + 1_500);
    world.input([Input::NetworkChanged]);
    world.run_to(2 * MINUTE);
    for tag in ["a", "b"] {
        assert_eq!(world.tests(tag), [0, MINUTE + 3_500]);
    }
    assert_eq!(world.lines(&["event=test ", "reason=network"]).len(), 2);
}

#[test]
fn e4_a_test_broken_by_the_change_runs_again_and_its_failure_is_published_to_nobody() {
    let mut world = World::new()
        .outbound("a", [ok(80), refused(1_000), ok(90)])
        .start();
    let subscriber = world.subscribe(Scope::All, View::Confirmed);
    world.run_to(MINUTE);
    world.connection_failed("a", Cause::Member);
    world.run_to(MINUTE + 500);
    let ticket = world.ask("a");
    world.input([Input::NetworkChanged]);
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0, MINUTE, MINUTE + 2_500]);
    assert_eq!(world.verdict(ticket), Some((MINUTE + 2_590, Ok(90))));
    assert_eq!(world.confirmed("a").stats.failed, 0);
    let states = world.updates_of(subscriber);
    let failed = states
        .iter()
        .flat_map(|(_, update)| &update.reports)
        .filter(|report| report.state == State::Failed);
    assert_eq!(failed.count(), 0);
}

#[test]
fn e4_a_failure_after_the_network_settled_is_still_of_the_old_one() {
    let mut world = World::new()
        .outbound("a", [ok(80), silent(), ok(90)])
        .start();
    world.run_to(MINUTE);
    world.connection_failed("a", Cause::Member);
    world.run_to(MINUTE + 500);
    world.input([Input::NetworkChanged]);
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0, MINUTE, MINUTE + 5_000]);
    assert_eq!(world.confirmed("a").stats.failed, 0);
}

#[test]
fn e4_a_success_of_the_old_network_is_published_and_tested_again() {
    let mut world = World::new()
        .outbound("a", [ok(80), ok(4_000), ok(90)])
        .start();
    world.run_to(MINUTE);
    world.connection_failed("a", Cause::Member);
    world.run_to(MINUTE + 500);
    world.input([Input::NetworkChanged]);
    world.run_to(MINUTE + 4_001);
    assert_eq!(world.confirmed("a").delay_ms, Some(4_000));
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0, MINUTE, MINUTE + 4_000]);
}

#[test]
fn e4_a_cycle_that_runs_is_replaced_by_one_of_all() {
    let mut world = World::new().options(|options| options.workers = 1);
    for tag in ["a", "b", "c"] {
        world = world.outbound(tag, [ok(1_000)]);
    }
    let mut world = world.start();
    world.run_to(1_500);
    world.input([Input::NetworkChanged]);
    world.run_to(MINUTE);
    assert_eq!(world.tests("a"), [0, 3_500]);
    assert_eq!(world.tests("b").len(), 2);
    assert_eq!(world.tests("c").len(), 1);
}

#[test]
fn e5_while_idle_a_network_change_waits_for_activity() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(30 * MINUTE);
    let before = world.tests("a").len();
    world.input([Input::NetworkChanged]);
    assert_eq!(world.wake_at_ms(), None);
    world.run_to(40 * MINUTE);
    assert_eq!(world.tests("a").len(), before);
    world.input([Input::Activity]);
    assert_eq!(world.tests("a").len(), before + 1);
}
