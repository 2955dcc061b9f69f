//! R: views and updates.

use outwatch_engine::{Input, Outbound, Scope, State, View};

use crate::world::{World, group, ok, outbound, selection};

const MINUTE: u64 = 60_000;

#[test]
fn r4_a_burst_is_one_update_a_window_after_its_first_change() {
    let mut world = World::new()
        .outbound("a", [ok(100)])
        .outbound("b", [ok(200)])
        .outbound("c", [ok(900)])
        .start();
    let subscriber = world.subscribe(Scope::All, View::Confirmed);
    world.run_to(10_000);
    let expected = [
        (0, vec!["a", "b", "c"]),
        (600, vec!["a", "b"]),
        (1_400, vec!["c"]),
    ];
    assert_eq!(world.told(subscriber), expected);
    let urgent: Vec<bool> = world
        .updates_of(subscriber)
        .iter()
        .map(|(_, update)| update.urgent)
        .collect();
    assert_eq!(urgent, [true, false, false]);
}

#[test]
fn r4_an_immediate_result_flushes_everything_pending() {
    let mut world = World::new()
        .outbound("a", [ok(100)])
        .outbound("b", [ok(200)])
        .group("g", &["b"], Some("b"))
        .start();
    let subscriber = world.subscribe(Scope::All, View::Confirmed);
    world.run_to(10_000);
    assert_eq!(world.told(subscriber)[1..], [(200, vec!["a", "b", "g"])]);
}

#[test]
fn r4_a_slow_subscriber_gets_only_the_latest_state_when_it_takes_again() {
    let mut world = World::new()
        .outbound("a", [ok(100), ok(110), ok(120), ok(130)])
        .start();
    let subscriber = outwatch_engine::SubscriberId(1);
    world.slow.insert(subscriber);
    assert_eq!(world.subscribe(Scope::All, View::Confirmed), subscriber);
    for minute in 1..=3 {
        world.run_to(minute * MINUTE);
        world.ask("a");
    }
    world.run_to(4 * MINUTE);
    assert_eq!(world.updates_of(subscriber).len(), 1);
    world.input([Input::Taken(subscriber)]);
    let updates = world.updates_of(subscriber);
    assert_eq!(updates.len(), 2);
    assert_eq!(updates[1].1.reports[0].delay_ms, Some(130));
}

#[test]
fn r4_a_change_reaches_its_own_its_groups_and_all_and_no_others() {
    let mut world = World::new()
        .outbound("a", [ok(100)])
        .outbound("b", [ok(100)])
        .group("inner", &["a"], Some("a"))
        .group("outer", &["inner", "b"], Some("b"))
        .start();
    world.run_to(MINUTE);
    let scopes = [
        Scope::Tag("a".into()),
        Scope::Group("inner".into()),
        Scope::Group("outer".into()),
        Scope::Tag("inner".into()),
        Scope::All,
        Scope::Tag("b".into()),
        Scope::Tag("outer".into()),
    ];
    let subscribers = scopes.map(|scope| world.subscribe(scope, View::Confirmed));
    world.ask("a");
    world.run_to(2 * MINUTE);
    let told = subscribers.map(|subscriber| {
        let told = world.told(subscriber);
        told.into_iter()
            .skip(1)
            .flat_map(|(_, tags)| tags)
            .map(String::from)
            .collect::<Vec<_>>()
    });
    let [a, inner, outer, inner_alone, all, b, outer_alone] = told;
    assert_eq!(a, ["a"]);
    assert_eq!(inner, ["a", "inner"]);
    assert_eq!(outer, ["a", "inner"]);
    assert_eq!(inner_alone, ["inner"]);
    assert_eq!(all, ["a", "inner"]);
    assert!(b.is_empty());
    assert!(outer_alone.is_empty(), "what it shows has not changed");
}

#[test]
fn r3_only_the_display_view_is_told_of_a_test_that_starts() {
    let mut world = World::new().outbound("a", [ok(100)]).start();
    world.run_to(MINUTE);
    let display = world.subscribe(Scope::All, View::Display);
    let confirmed = world.subscribe(Scope::All, View::Confirmed);
    world.ask("a");
    assert_eq!(world.told(display).len(), 2);
    assert!(world.updates_of(display)[1].1.reports[0].testing);
    assert_eq!(world.told(confirmed).len(), 1);
}

#[test]
fn r4_an_unknown_tag_is_told_once_it_appears() {
    let mut world = World::new().outbound("a", [ok(100)]).start();
    world.run_to(MINUTE);
    let subscriber = world.subscribe(Scope::Tag("later".into()), View::Confirmed);
    world.run_to(2 * MINUTE);
    assert!(world.told(subscriber).is_empty());
    world.replies("later", [ok(50)]);
    world.reload(vec![crate::world::outbound("later")], vec![]);
    world.run_to(3 * MINUTE);
    assert!(!world.told(subscriber).is_empty());
}

#[test]
fn r4_a_changed_list_tells_a_group_what_came_into_it_and_what_is_gone() {
    let mut world = World::new()
        .outbound("stays", [ok(100)])
        .outbound("goes", [ok(100)])
        .outbound("other", [ok(100)])
        .outbound("joins", [ok(100)])
        .group("g", &["stays", "goes"], Some("stays"))
        .start();
    world.run_to(MINUTE);
    let subscriber = world.subscribe(Scope::Group("g".into()), View::Confirmed);
    let [stays, joins] = ["stays", "joins"].map(crate::world::outbound);
    let group = crate::world::group("g", &["stays", "joins"]);
    let selection = crate::world::selection("g", Some("stays"));
    world.reload(vec![stays, joins, group], vec![selection]);
    world.run_to(2 * MINUTE);
    let updates = world.updates_of(subscriber);
    assert_eq!(updates.len(), 2);
    assert_eq!(
        world.told(subscriber)[1],
        (MINUTE + 500, vec!["joins", "g"])
    );
    assert_eq!(updates[1].1.removed, ["goes"]);
}

#[test]
fn r4_nobody_is_told_after_leaving() {
    let mut world = World::new().outbound("a", [ok(100)]).start();
    let subscriber = world.subscribe(Scope::All, View::Confirmed);
    world.run_to(150);
    world.input([Input::Unsubscribe(subscriber)]);
    world.run_to(9 * MINUTE);
    assert_eq!(world.told(subscriber).len(), 1);
}

#[test]
fn r4_a_group_whose_selected_group_becomes_an_outbound_is_told_again() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .group("inner", &["a"], Some("a"))
        .group("outer", &["inner"], Some("inner"))
        .start();
    world.run_to(10_000);
    let before = world.confirmed("outer");
    assert_eq!(
        (before.state, before.via.as_deref()),
        (State::Ok, Some("a"))
    );
    let subscriber = world.subscribe(Scope::Tag("outer".into()), View::Confirmed);
    world.replies("inner", [ok(5_000)]);
    world.reload(
        vec![outbound("a"), outbound("inner"), group("outer", &["inner"])],
        vec![selection("outer", Some("inner"))],
    );
    world.run_to(11_000);
    let after = world.confirmed("outer");
    assert_eq!(
        (after.state, after.via.as_deref()),
        (State::Untested, Some("inner"))
    );
    assert!(after.revision > before.revision);
    assert_eq!(
        world.told(subscriber),
        [(10_000, vec!["outer"]), (10_500, vec!["outer"])]
    );
}

#[test]
fn r4_what_is_no_group_has_no_members_and_is_not_told_of_them() {
    let mut world = World::new().outbound("a", [ok(80)]).entry(Outbound {
        members: vec!["a".into()],
        ..outbound("b")
    });
    world.replies("b", [ok(80)]);
    let mut world = world.start();
    world.run_to(10_000);
    let subscriber = world.subscribe(Scope::Group("b".into()), View::Confirmed);
    world.ask("a");
    world.run_to(20_000);
    assert_eq!(world.told(subscriber), [(10_000, vec!["b"])]);
}
