//! S: tests asked for. Default marks: 1 s, 3 s, 10 s.

use outwatch_engine::{AskError, ErrorKind, Input, Outbound, State, Ticket, View};

use crate::world::{Reply, World, group, not_ready, ok, outbound, refused, seconds, silent};

/// When the stories ask about an outbound that has a result of this run: long after
/// the first cycle, long before the second.
const LATER: u64 = 60_000;

/// Asks at time 0 about `a`, of which nothing is known, and which no cycle tests:
/// the only worker is busy with another outbound.
fn ask_unknown(replies: impl Into<Vec<Reply>>) -> (World, Ticket) {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("busy", [Reply::Stuck(None)])
        .outbound("a", replies)
        .group("g", &["busy", "a"], None)
        .start();
    let ticket = world.ask("a");
    (world, ticket)
}

/// Asks a minute after the cycle's test of `a` had the first of the replies.
fn ask_known(replies: impl Into<Vec<Reply>>) -> (World, Ticket) {
    let mut world = World::new()
        .outbound("a", replies)
        .group("g", &["a"], Some("a"))
        .start();
    world.run_to(LATER);
    let ticket = world.ask("a");
    (world, ticket)
}

/// When the display view began to show a miss.
fn misses(world: &World) -> Vec<u64> {
    world
        .lines(&["event=miss"])
        .iter()
        .map(|(at, _)| *at)
        .collect()
}

#[test]
fn s5_an_answer_at_one_and_a_half_seconds_replaces_the_miss_shown_at_one() {
    let (mut world, ticket) = ask_unknown([ok(1_500)]);
    world.run_to(999);
    assert!(!world.shown("a").miss);
    world.run_to(1_000);
    assert!(world.shown("a").miss && world.shown("a").testing);
    world.run_to(20_000);
    assert_eq!(world.verdict(ticket), Some((1_500, Ok(1_500))));
    assert!(!world.shown("a").miss);
    assert_eq!(world.tests("a"), [0], "one ping");
}

#[test]
fn s2_refused_at_once_is_tried_at_every_mark_but_the_last() {
    let (mut world, ticket) = ask_unknown([refused(100)]);
    world.run_to(20_000);
    assert_eq!(world.tests("a")[..3], [0, 1_000, 3_000]);
    assert_eq!(
        world.verdict(ticket),
        Some((3_100, Err(ErrorKind::DialRefused)))
    );
    assert_eq!(misses(&world), [100]);
    assert_eq!(world.confirmed("a").attempts, 3);
}

#[test]
fn s6_silent_is_missed_at_the_first_mark_and_failed_at_the_last() {
    let (mut world, ticket) = ask_unknown([silent()]);
    world.run_to(16_000);
    assert_eq!(misses(&world), [1_000]);
    assert_eq!(
        world.verdict(ticket),
        Some((10_000, Err(ErrorKind::Timeout)))
    );
    assert_eq!(world.tests("a"), [0], "one ping");
}

#[test]
fn s4_silent_that_worked_keeps_its_result_until_the_second_mark() {
    let (mut world, ticket) = ask_known([ok(80), silent()]);
    world.run_to(LATER + 2_999);
    assert!(!world.shown("a").miss);
    assert_eq!(world.shown("a").delay_ms, Some(80));
    world.run_to(LATER + 20_000);
    assert_eq!(misses(&world), [LATER + 3_000]);
    assert_eq!(
        world.verdict(ticket),
        Some((LATER + 10_000, Err(ErrorKind::Timeout)))
    );
    assert_eq!(world.tests("a").len(), 2, "one ping");
}

#[test]
fn s4_refused_that_worked_is_tried_again_at_the_second_mark() {
    let (mut world, ticket) = ask_known([ok(80), refused(100), ok(90)]);
    world.run_to(LATER + 20_000);
    assert_eq!(world.tests("a"), [0, LATER, LATER + 3_000]);
    assert_eq!(misses(&world), [LATER + 3_000], "nothing is shown before");
    assert_eq!(world.verdict(ticket), Some((LATER + 3_090, Ok(90))));
}

#[test]
fn s3_one_that_failed_in_this_run_shows_no_miss_and_all_marks_count() {
    let (mut world, ticket) = ask_known([refused(10)]);
    world.run_to(LATER + 20_000);
    assert_eq!(world.tests("a"), [0, LATER, LATER + 1_000, LATER + 3_000]);
    assert_eq!(misses(&world), [0u64; 0]);
    assert_eq!(
        world.verdict(ticket),
        Some((LATER + 3_010, Err(ErrorKind::DialRefused)))
    );
}

#[test]
fn s4_a_cached_success_is_not_one_of_this_run_so_the_first_mark_counts() {
    let mut first = World::new().outbound("a", [ok(80)]).start();
    first.run_to(5_000);
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("busy", [Reply::Stuck(None)])
        .outbound("a", [refused(100)])
        .saved(&first.pairs);
    world.make();
    // Asked in the first step: the ask is admitted before the cycle's turn.
    world.input([Input::Ask {
        ticket: Ticket(9),
        tag: "a".into(),
    }]);
    world.run_to(20_000);
    assert_eq!(world.tests("a")[..3], [0, 1_000, 3_000]);
    assert_eq!(misses(&world), [100]);
}

#[test]
fn s1_an_attempt_that_runs_at_a_mark_is_left_to_answer() {
    let (mut world, ticket) = ask_unknown([ok(9_900)]);
    world.run_to(16_000);
    assert_eq!(world.tests("a"), [0]);
    assert_eq!(world.verdict(ticket), Some((9_900, Ok(9_900))));
}

#[test]
fn s6_a_late_failure_with_no_mark_left_ends_the_test_then() {
    let (mut world, ticket) = ask_unknown([refused(5_000)]);
    world.run_to(16_000);
    assert_eq!(
        world.verdict(ticket),
        Some((5_000, Err(ErrorKind::DialRefused)))
    );
}

#[test]
fn s6_a_lost_attempt_is_canceled_at_the_deadline() {
    let (mut world, ticket) = ask_unknown([Reply::Stuck(None)]);
    world.run_to(16_000);
    assert_eq!(
        world.verdict(ticket),
        Some((10_000, Err(ErrorKind::Timeout)))
    );
    assert_eq!(world.canceled.len(), 1);
}

#[test]
fn s7_the_confirmed_view_never_sees_a_miss() {
    let (mut world, _) = ask_known([ok(80), silent()]);
    for at in (LATER..LATER + 10_000).step_by(500) {
        world.run_to(at);
        for tag in ["a", "g"] {
            let confirmed = world.confirmed(tag);
            assert_eq!(
                (confirmed.state, confirmed.miss, confirmed.testing),
                (State::Ok, false, false)
            );
        }
    }
    assert!(world.shown("a").miss && world.shown("g").miss);
}

#[test]
fn s8_the_deadline_is_the_last_mark_and_not_the_timeout() {
    let (mut world, ticket) = ask_unknown([ok(7_000)]);
    assert_eq!(
        world.sent.last().map(|sent| sent.probe.request.deadline),
        Some(seconds(10))
    );
    world.run_to(16_000);
    assert_eq!(world.verdict(ticket), Some((7_000, Ok(7_000))));
}

#[test]
fn s8_a_later_attempt_has_only_the_time_that_is_left() {
    let (mut world, _) = ask_unknown([refused(10), silent()]);
    world.run_to(1_000);
    assert_eq!(
        world.sent.last().map(|sent| sent.probe.request.deadline),
        Some(seconds(9))
    );
}

#[test]
fn s8_one_mark_is_the_deadline_for_all() {
    let mut world = World::new()
        .options(|options| options.on_demand_timeouts = vec![seconds(2)])
        .outbound("a", [ok(50), refused(100), silent()])
        .start();
    world.run_to(LATER);
    let refused = world.ask("a");
    world.run_to(LATER + 10_000);
    assert_eq!(
        world.verdict(refused),
        Some((LATER + 100, Err(ErrorKind::DialRefused)))
    );
    let silent = world.ask("a");
    world.run_to(LATER + 20_000);
    assert_eq!(
        world.verdict(silent),
        Some((LATER + 12_000, Err(ErrorKind::Timeout)))
    );
}

#[test]
fn s8_after_a_sleep_past_all_marks_no_attempt_is_sent_without_time() {
    let mut world = World::new()
        .options(|options| options.interval = seconds(3_600))
        .outbound("a", [ok(80), refused(100)])
        .start();
    world.run_to(LATER);
    let ticket = world.ask("a");
    world.run_to(LATER + 200);
    world.sleep_to(LATER + 20_000);
    world.input([]);
    assert_eq!(world.tests("a"), [0, LATER]);
    assert_eq!(
        world.verdict(ticket),
        Some((LATER + 20_000, Err(ErrorKind::Timeout)))
    );
}

#[test]
fn e3_a_second_ask_joins_and_takes_the_same_answer() {
    let (mut world, first) = ask_unknown([ok(1_500)]);
    world.run_to(700);
    let second = world.ask("a");
    world.run_to(16_000);
    assert_eq!(world.tests("a"), [0]);
    assert_eq!(world.verdict(first), world.verdict(second));
    assert_eq!(world.lines(&["event=joined"]).len(), 1);
}

#[test]
fn s9_asking_for_a_group_asks_for_each_leaf_once_and_answers_when_all_are_over() {
    let mut world = World::new()
        .outbound("a", [ok(100), ok(120)])
        .outbound("b", [ok(100), ok(700)])
        .group("inner", &["a", "b"], Some("b"))
        .group("g", &["inner", "a"], Some("inner"))
        .start();
    world.run_to(LATER);
    let ticket = world.ask("g");
    world.run_to(LATER + 10_000);
    assert_eq!((world.tests("a").len(), world.tests("b").len()), (2, 2));
    let (at, report) = world.answer(ticket).expect("an answer");
    let report = report.as_ref().expect("a report");
    assert_eq!(
        (*at, report.via.as_deref(), report.delay_ms),
        (LATER + 700, Some("b"), Some(700))
    );
}

#[test]
fn s9_asking_for_a_gated_outbound_asks_for_its_detours_leaf_first() {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("busy", [Reply::Stuck(None)])
        .outbound("first", [ok(400)])
        .group("through", &["first"], Some("first"))
        .detoured("a", "through", [ok(100)]);
    world.make();
    world.input([Input::Pause]);
    world.input([Input::Activity]);
    let ticket = world.ask("a");
    world.input([Input::Resume]);
    world.run_to(1_000);
    assert_eq!(
        (world.tests("first"), world.tests("a")),
        (vec![0], vec![400])
    );
    assert_eq!(world.verdict(ticket), Some((500, Ok(100))));
}

#[test]
fn s9_a_not_ready_outbound_answers_so_and_is_tested_once_it_is_ready() {
    let (mut world, ticket) = ask_unknown([not_ready("handshake"), ok(100)]);
    world.run_to(0);
    let answer = world.answer(ticket).map(|(_, answer)| answer.clone());
    assert_eq!(answer, Some(Err(AskError::NotReady("handshake".into()))));
    assert_eq!(
        world.confirmed("a").status_text.as_deref(),
        Some("handshake")
    );
    world.run_to(5_000);
    assert_eq!(world.tests("a"), [0, 3_000]);
    assert_eq!(world.confirmed("a").state, State::Ok);
}

#[test]
fn s9_unknown_and_untestable_tags_are_told_apart() {
    let block = Outbound {
        kind: outwatch_engine::Kind::Untestable,
        ..outbound("block")
    };
    let mut world = World::new()
        .entry(block)
        .entry(group("empty", &["block"]))
        .start();
    for (tag, error) in [
        ("nowhere", AskError::UnknownTag),
        ("block", AskError::Untestable),
        ("empty", AskError::Untestable),
    ] {
        let ticket = world.ask(tag);
        assert_eq!(world.answer(ticket), Some(&(0, Err(error))));
    }
}

#[test]
fn s10_a_request_is_answered_while_idle_and_is_no_activity() {
    let mut world = World::new().outbound("a", [ok(100)]).start();
    world.run_to(3_600_000);
    let before = world.tests("a").len();
    let ticket = world.ask("a");
    world.run_to(2 * 3_600_000);
    assert_eq!(world.verdict(ticket), Some((3_600_100, Ok(100))));
    assert_eq!(world.tests("a").len(), before + 1, "no cycle follows");
    assert_eq!(world.wake_at_ms(), None);
}

#[test]
fn s_an_asked_for_result_is_shown_and_confirmed_at_once() {
    let (mut world, _) = ask_known([ok(80), ok(300)]);
    let display = world.subscribe(outwatch_engine::Scope::Tag("a".into()), View::Display);
    let confirmed = world.subscribe(outwatch_engine::Scope::Group("g".into()), View::Confirmed);
    world.run_to(LATER + 300);
    for subscriber in [display, confirmed] {
        let told = world.told(subscriber);
        assert_eq!(told.last().map(|(at, _)| *at), Some(LATER + 300));
    }
}

#[test]
fn s9_an_ask_for_what_becomes_an_empty_group_in_the_same_step_is_answered() {
    let mut world = World::new().outbound("a", [ok(100)]).start();
    let ticket = Ticket(1);
    world.input([
        Input::Ask {
            ticket,
            tag: "a".into(),
        },
        Input::Outbounds {
            outbounds: vec![group("a", &[])],
            selections: Vec::new(),
        },
    ]);
    let answer = world
        .answer(ticket)
        .map(|(at, result)| (*at, result.clone()));
    assert_eq!(answer, Some((0, Err(AskError::Untestable))));
}
