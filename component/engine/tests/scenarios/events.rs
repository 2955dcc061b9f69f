//! E: events that test at once.

use outwatch_engine::{Cause, Input, Scope, Selection, State, Ticket, View};

use crate::world::{Reply, World, ok, refused, seconds, selection, silent};

const MINUTE: u64 = 60_000;

#[test]
fn e1_a_connection_that_failed_tests_its_member_past_workers_and_debounce() {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("a", [ok(80), refused(40)])
        .outbound("busy", [ok(50), Reply::Stuck(None)])
        .group("g", &["a"], Some("a"))
        .start();
    let subscriber = world.subscribe(Scope::Group("g".into()), View::Confirmed);
    world.run_to(MINUTE);
    world.connection_failed("a", Cause::Member);
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0, MINUTE]);
    let told = world.updates_of(subscriber);
    let (at, update) = told.last().expect("an update");
    assert!(update.urgent);
    assert_eq!(*at, MINUTE + 40);
    assert_eq!(
        world
            .lines(&["event=test ", "reason=connection-failed"])
            .len(),
        1
    );
}

#[test]
fn e1_a_failed_connection_through_a_group_tests_the_leaf() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .group("inner", &["a"], Some("a"))
        .start();
    world.run_to(MINUTE);
    world.connection_failed("inner", Cause::Member);
    assert_eq!(world.tests("a"), [0, MINUTE]);
}

#[test]
fn e1_a_selector_that_switched_tests_the_new_leaf_and_those_that_depend_on_it() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .outbound("b", [ok(90)])
        .group("g", &["a", "b"], Some("a"))
        .detoured("through", "g", [ok(200)])
        .start();
    world.run_to(MINUTE);
    world.select("g", "b");
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("b"), [0, MINUTE]);
    assert_eq!(
        world.tests("through").last(),
        Some(&(MINUTE + 90)),
        "once its gate is open"
    );
    assert_eq!(world.confirmed("g").via.as_deref(), Some("b"));
    assert_eq!(world.lines(&["event=test ", "reason=depends"]).len(), 1);
}

#[test]
fn e2_a_new_selection_that_worked_just_now_is_not_tested_again_but_dependents_are() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .outbound("b", [ok(90)])
        .outbound("dead", [refused(10)])
        .group("g", &["a", "b", "dead"], Some("a"))
        .detoured("through", "g", [ok(200)])
        .start();
    world.run_to(10_000);
    let before = world.tests("through").len();
    world.select("g", "b");
    world.run_to(11_000);
    assert_eq!(world.tests("b"), [0]);
    assert_eq!(world.tests("through").len(), before + 1);
    world.select("g", "dead");
    world.run_to(12_000);
    assert_eq!(
        world.tests("dead"),
        [0, 11_000],
        "a failure suppresses nothing"
    );
    world.ask("b");
    assert_eq!(
        world.tests("b").len(),
        2,
        "an explicit request ignores the rule"
    );
}

#[test]
fn e2_a_success_older_than_15_s_is_tested_again() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .outbound("b", [ok(100)])
        .group("g", &["a", "b"], Some("a"))
        .start();
    world.run_to(15_101);
    world.select("g", "b");
    assert_eq!(world.tests("b"), [0, 15_101]);
}

#[test]
fn e1_the_udp_selection_alone_tests_its_leaf() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .outbound("b", [ok(100)])
        .group("g", &["a", "b"], Some("a"))
        .start();
    world.run_to(MINUTE);
    let udp = Selection {
        udp: Some("b".into()),
        ..selection("g", Some("a"))
    };
    world.input([Input::Selected(udp)]);
    assert_eq!(world.tests("b"), [0, MINUTE]);
    assert_eq!(world.confirmed("g").via.as_deref(), Some("a"));
}

#[test]
fn e3_the_cycle_skips_an_outbound_being_tested() {
    let mut world = World::new()
        .outbound("a", [ok(3_000)])
        .group("g", &["a"], Some("a"))
        .start();
    world.run_to(10_000);
    assert_eq!(world.tests("a"), [0]);
    assert_eq!(world.lines(&["event=skipped"]).len(), 1);
}

#[test]
fn e3_a_cycles_test_that_an_ask_joins_is_told_and_saved_as_soon_as_an_asked_one() {
    let mut world = World::new()
        .outbound("a", [ok(900)])
        .outbound("slow", [silent()])
        .start();
    let subscriber = world.subscribe(Scope::Tag("a".into()), View::Confirmed);
    world.run_to(100);
    world.ask("a");
    world.run_to(3_000);
    assert_eq!(world.told(subscriber).last().map(|(at, _)| *at), Some(900));
    assert_eq!(world.saves, [1_900]);
}

#[test]
fn e6_a_burst_of_a_thousand_failed_connections_makes_one_test() {
    let mut world = World::new().outbound("a", [ok(80), refused(50)]).start();
    world.run_to(MINUTE);
    for _ in 0..1_000 {
        world.connection_failed("a", Cause::Member);
    }
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0, MINUTE]);
}

#[test]
fn e6_after_a_failed_test_the_next_one_a_connection_causes_waits_a_second() {
    let mut world = World::new().outbound("a", [ok(80), refused(50)]).start();
    world.run_to(MINUTE);
    world.connection_failed("a", Cause::Member);
    world.run_to(MINUTE + 100);
    for _ in 0..1_000 {
        world.connection_failed("a", Cause::Member);
    }
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0, MINUTE, MINUTE + 1_050]);
}

#[test]
fn e6_a_request_is_not_held_back() {
    let mut world = World::new()
        .outbound("a", [ok(80), refused(50), ok(80)])
        .start();
    world.run_to(MINUTE);
    world.connection_failed("a", Cause::Member);
    world.run_to(MINUTE + 100);
    world.connection_failed("a", Cause::Member);
    world.ask("a");
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0, MINUTE, MINUTE + 100]);
}

#[test]
fn e7_the_immediate_lane_has_a_limit_and_explicit_requests_go_first() {
    let mut world = World::new().options(|options| options.immediate_limit = 1);
    for tag in ["a", "b", "c"] {
        world = world.outbound(tag, [ok(100)]);
    }
    let mut world = world.start();
    world.run_to(MINUTE);
    world.connection_failed("a", Cause::Member);
    world.connection_failed("b", Cause::Member);
    world.ask("c");
    world.run_to(2 * MINUTE);
    let starts = ["a", "c", "b"].map(|tag| world.tests(tag)[1]);
    assert_eq!(starts, [MINUTE, MINUTE + 100, MINUTE + 200]);
}

#[test]
fn e7_asking_for_many_at_once_is_bounded_and_all_are_answered() {
    let mut world = World::new().options(|options| options.immediate_limit = 4);
    let tags: Vec<String> = (0..50).map(|nth| format!("out-{nth}")).collect();
    for tag in &tags {
        world = world.outbound(tag, [ok(100)]);
    }
    let mut world = world.start();
    world.run_to(MINUTE);
    let most_before = world.most_at_once;
    let tickets: Vec<Ticket> = tags.iter().map(|tag| world.ask(tag)).collect();
    world.run_to(2 * MINUTE);
    assert!(most_before <= 10 && world.most_at_once <= 10);
    assert!(tickets.iter().all(|&ticket| {
        world
            .verdict(ticket)
            .is_some_and(|(_, delay)| delay == Ok(100))
    }));
}

#[test]
fn e8_a_failure_of_the_destination_or_the_client_tests_nothing() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(MINUTE);
    world.connection_failed("a", Cause::Destination);
    world.connection_failed("a", Cause::Client);
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("a"), [0]);
}

#[test]
fn a_changed_list_keeps_what_stays_and_tests_what_is_new() {
    let mut world = World::new()
        .outbound("stays", [ok(80)])
        .outbound("goes", [ok(80), Reply::Stuck(None)])
        .outbound("moves", [ok(80)])
        .start();
    let subscriber = world.subscribe(Scope::All, View::Confirmed);
    world.run_to(MINUTE);
    let lost = world.ask("goes");
    world.replies("new", [ok(70)]);
    let moved = outwatch_engine::Outbound {
        fingerprint: "elsewhere".into(),
        ..crate::world::outbound("moves")
    };
    world.reload(
        vec![
            crate::world::outbound("new"),
            crate::world::outbound("stays"),
            moved,
        ],
        vec![],
    );
    assert_eq!(world.canceled.len(), 1);
    assert_eq!(
        world.answer(lost),
        Some(&(MINUTE, Err(outwatch_engine::AskError::UnknownTag)))
    );
    assert_eq!(world.confirmed("moves").state, State::Untested);
    world.run_to(2 * MINUTE);
    assert_eq!(world.tests("stays"), [0]);
    assert_eq!(
        (world.tests("new"), world.tests("moves")),
        (vec![MINUTE], vec![0, MINUTE])
    );
    assert_eq!(world.lines(&["event=test ", "reason=reload"]).len(), 2);
    let removed = world
        .updates_of(subscriber)
        .into_iter()
        .flat_map(|(_, update)| update.removed.clone());
    assert_eq!(removed.collect::<Vec<_>>(), ["goes"]);
}

#[test]
fn c2_seconds_are_not_lost_between_an_event_and_the_next_cycle() {
    let mut world = World::new()
        .options(|options| options.interval = seconds(60))
        .outbound("a", [ok(80)])
        .start();
    world.run_to(30_000);
    world.connection_failed("a", Cause::Member);
    world.run_to(125_000);
    assert_eq!(world.tests("a"), [0, 30_000, 120_000]);
}
