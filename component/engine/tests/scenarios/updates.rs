//! R and L: results, views, updates, log lines.

use outwatch_engine::{Cause, Input, Reason, Scope, State, View};

use crate::world::{Reply, START_WALL_MS, World, not_ready, ok, refused, silent};

const MINUTE: u64 = 60_000;

#[test]
fn r1_a_result_says_when_why_and_how_it_was_measured() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(MINUTE);
    let report = world.confirmed("a");
    assert_eq!(report.tested_at, Some(START_WALL_MS + 80));
    assert_eq!(report.last_ok_at, Some(START_WALL_MS + 80));
    assert_eq!(report.age_ms, Some(MINUTE - 80));
    assert_eq!((report.reason, report.attempts), (Some(Reason::Cycle), 1));
    assert_eq!(
        report.url.as_deref(),
        Some("https://www.gstatic.com/generate_204")
    );
    assert_eq!(report.type_name, "socks");
}

#[test]
fn r1_the_revision_grows_with_every_change_and_only_then() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .outbound("b", [ok(900)])
        .start();
    world.run_to(500);
    let before = world.confirmed("a").revision;
    world.run_to(MINUTE);
    assert_eq!(world.confirmed("a").revision, before);
    world.ask("a");
    let testing = world.shown("a").revision;
    assert!(testing > before);
    assert_eq!(
        world.confirmed("a").revision,
        before,
        "a test that runs is no change of the confirmed view"
    );
    world.run_to(2 * MINUTE);
    assert!(world.confirmed("a").revision > testing);
}

#[test]
fn r2_a_group_shows_its_selected_leaf_through_nested_groups() {
    let mut world = World::new()
        .outbound("fast", [ok(10)])
        .outbound("slow", [ok(500)])
        .group("inner", &["fast", "slow"], Some("slow"))
        .group("outer", &["inner", "fast"], Some("inner"))
        .start();
    world.run_to(MINUTE);
    let report = world.confirmed("outer");
    assert_eq!(
        (report.delay_ms, report.via.as_deref()),
        (Some(500), Some("slow"))
    );
    assert_eq!(report.tag, "outer");
}

#[test]
fn r2_without_a_selection_a_group_shows_its_best_member() {
    let mut first = World::new().outbound("cached", [ok(5)]).start();
    first.run_to(MINUTE);
    let mut world = World::new()
        .outbound("dead", [refused(20)])
        .outbound("cached", [silent()])
        .outbound("slow", [ok(400)])
        .outbound("fast", [ok(300)])
        .group("g", &["dead", "cached", "slow", "fast"], None)
        .saved(&first.pairs)
        .start();
    let mut seen = Vec::new();
    for at in [10, 310, 410, 6_000] {
        world.run_to(at);
        let report = world.confirmed("g");
        seen.push((report.via.expect("a member"), report.state));
    }
    let expected = [
        ("cached", State::Cached),
        ("fast", State::Ok),
        ("fast", State::Ok),
        ("fast", State::Ok),
    ];
    assert_eq!(
        seen,
        expected.map(|(tag, state)| (String::from(tag), state))
    );
}

#[test]
fn r2_failed_beats_untested_and_a_selected_untested_member_makes_the_group_untested() {
    let mut world = World::new()
        .outbound("dead", [refused(20)])
        .outbound("never", [Reply::Stuck(None)])
        .group("any", &["never", "dead"], None)
        .group("set", &["dead", "never"], Some("never"))
        .start();
    world.run_to(1_000);
    assert_eq!(world.confirmed("any").state, State::Failed);
    assert_eq!(world.confirmed("set").state, State::Untested);
}

#[test]
fn r2_a_loop_of_groups_ends() {
    let mut world = World::new()
        .outbound("a", [ok(10)])
        .group("x", &["y", "a"], Some("y"))
        .group("y", &["x"], Some("x"))
        .group("u", &["v"], None)
        .group("v", &["u", "a"], None)
        .start();
    world.run_to(1_000);
    assert_eq!(world.confirmed("x").state, State::Untested);
    assert_eq!(world.confirmed("u").via.as_deref(), Some("a"));
}

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
fn r5_r6_a_loaded_result_is_from_cache_until_tested_and_an_answer_clears_the_error() {
    let mut first = World::new().outbound("a", [ok(100)]).start();
    first.run_to(MINUTE);
    let mut world = World::new()
        .outbound("a", [refused(10), ok(100)])
        .saved(&first.pairs)
        .start();
    assert!(world.confirmed("a").from_cache);
    world.run_to(MINUTE);
    let failed = world.confirmed("a");
    assert!(!failed.from_cache && failed.error.is_some() && failed.last_ok_at.is_some());
    world.ask("a");
    world.run_to(2 * MINUTE);
    assert_eq!(
        (world.confirmed("a").error, world.confirmed("a").from_cache),
        (None, false)
    );
}

#[test]
fn r7_the_figures_are_over_the_last_32_measurements_of_this_run() {
    let mut replies: Vec<Reply> = vec![refused(10)];
    replies.extend((0..40).map(|nth| ok(100 + nth % 2 * 20)));
    let mut world = World::new().outbound("a", replies).start();
    for nth in 1..=40u64 {
        world.run_to(nth * 2_000);
        if nth == 2 {
            let stats = world.confirmed("a").stats;
            assert_eq!(
                (stats.count, stats.failed, stats.mean_ms),
                (2, 1, Some(100))
            );
        }
        world.connection_failed("a", Cause::Member);
    }
    world.run_to(100_000);
    let stats = world.confirmed("a").stats;
    assert_eq!((stats.count, stats.failed), (32, 0));
    assert_eq!((stats.mean_ms, stats.jitter_ms), (Some(110), Some(20)));
    assert_eq!(world.monitor().measurements("a").len(), 32);
}

#[test]
fn l1_every_test_its_result_and_each_cycle_is_one_line_that_a_program_can_read() {
    let tag = "x\" ok=1 \n🇩🇪";
    let mut world = World::new()
        .outbound(tag, [refused(10), ok(100)])
        .outbound("b", [not_ready("no\nway")])
        .start();
    world.run_to(MINUTE);
    world.ask(tag);
    world.run_to(20 * MINUTE);
    world.input([Input::Activity]);
    assert!(world.log.len() > 20);
    for (_, line) in &world.log {
        let pairs = parse(line).unwrap_or_else(|| panic!("not of the grammar: {line}"));
        assert_eq!(pairs[0].0, "event");
        if pairs[0].1 == "test" {
            assert!(pairs.iter().any(|(key, _)| key == "reason"));
            assert!(
                pairs
                    .iter()
                    .any(|(key, value)| key == "tag" && (value == tag || value == "b"))
            );
        }
    }
    for event in [
        "cycle_start",
        "test",
        "result",
        "cycle_end",
        "idle",
        "wake",
        "not_ready",
    ] {
        assert!(
            !world.lines(&[&format!("event={event}")]).is_empty(),
            "{event}"
        );
    }
}

/// Reads a line by the grammar that the journal documents.
fn parse(line: &str) -> Option<Vec<(String, String)>> {
    let mut rest = line.strip_prefix("MONITORING")?;
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (key, value) = rest.strip_prefix(' ')?.split_once('=')?;
        if !key
            .chars()
            .all(|char| char.is_ascii_lowercase() || char == '_')
        {
            return None;
        }
        let text;
        if value.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
            text = values.next()?.ok()?;
            rest = &value[values.byte_offset()..];
        } else {
            let end = value.find(' ').unwrap_or(value.len());
            text = value[..end].to_string();
            if text.contains(['"', '=']) {
                return None;
            }
            rest = &value[end..];
        }
        pairs.push((key.to_string(), text));
    }
    Some(pairs)
}
