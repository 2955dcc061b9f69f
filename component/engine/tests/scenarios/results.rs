//! R: results, of outbounds and of groups.

use outwatch_engine::{Cause, Reason, Scope, State, View};

use crate::world::{Reply, START_WALL_MS, World, ok, refused, silent};

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
fn r2_a_group_that_has_not_chosen_is_told_anew_only_when_its_best_member_changes() {
    let mut world = World::new()
        .outbound("b", [ok(300)])
        .outbound("worse", [ok(1_200)])
        .outbound("best", [ok(2_100), ok(100)])
        .group("g", &["b", "worse", "best"], None)
        .start();
    let subscriber = world.subscribe(Scope::Tag("g".into()), View::Confirmed);
    world.run_to(MINUTE);
    assert_eq!(
        world
            .told(subscriber)
            .iter()
            .map(|(at, _)| *at)
            .collect::<Vec<_>>(),
        [0, 800]
    );
    world.ask("best");
    world.run_to(2 * MINUTE);
    let updates = world.updates_of(subscriber);
    assert_eq!(updates.len(), 3);
    assert_eq!(updates[2].1.reports[0].via.as_deref(), Some("best"));
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
    assert_eq!(world.measurements("a").len(), 32);
}
