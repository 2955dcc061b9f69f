//! L: log lines.

use std::collections::BTreeSet;

use outwatch_engine::{Cause, Input, Level};

use crate::grammar::{events, is_as_promised, parse};
use crate::world::{World, group, not_ready, ok, outbound, refused, selection, silent};

const MINUTE: u64 = 60_000;

#[test]
fn l1_lines_of_a_level_that_nobody_reads_are_not_written() {
    let mut world = World::new().outbound("a", [ok(10)]).start();
    world.run_to(MINUTE);
    assert!(!world.lines(&["event=test "]).is_empty());
    let written = world.log.len();
    world.input([Input::LogFrom(Some(Level::Warn))]);
    world.ask("a");
    world.run_to(2 * MINUTE);
    assert_eq!(world.log.len(), written);
    world.input([Input::LogFrom(Some(Level::Info))]);
    world.ask("a");
    world.run_to(3 * MINUTE);
    assert!(world.log.len() > written);
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
    let events = events();
    for (_, line) in &world.log {
        let pairs = parse(line).unwrap_or_else(|| panic!("not of the grammar: {line}"));
        assert!(
            is_as_promised(&events, &pairs),
            "not in docs/LOG.md: {line}"
        );
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

#[test]
fn l1_a_test_whose_outbound_goes_says_that_nothing_comes_of_it() {
    let mut world = World::new()
        .outbound("a", [silent()])
        .outbound("b", [ok(20)])
        .start();
    world.run_to(1_000);
    world.reload(vec![outbound("b")], vec![]);
    let dropped = r#"event=dropped tag="a" reason=cycle"#;
    assert_eq!(world.lines(&[dropped]).len(), 1);
}

#[test]
fn l2_every_test_says_why_it_runs_in_one_of_thirteen_words() {
    let mut world = World::new()
        .options(|options| {
            options.urls = ["http://one.test/", "http://two.test/"]
                .map(String::from)
                .into();
        })
        .outbound("a", [refused(10), ok(20)])
        .outbound("b", [refused(10), ok(20)])
        .group("g", &["a", "b"], Some("a"))
        .outbound("late", [not_ready("connecting"), refused(10), ok(20)])
        .start();
    let mut outbounds = vec![outbound("a"), outbound("b"), group("g", &["a", "b"])];
    outbounds.extend([outbound("late"), outbound("far")]);
    outbounds[4].detour = Some("g".into());
    world.replies("far", [ok(20)]);
    world.run_to(MINUTE);
    world.reload(outbounds, vec![selection("g", Some("a"))]);
    world.run_to(2 * MINUTE);
    world.replies("a", [refused(10)]);
    world.connection_failed("a", Cause::Member);
    world.run_to(3 * MINUTE);
    world.replies("a", [ok(20)]);
    world.ask("a");
    world.run_to(4 * MINUTE);
    world.select("g", "b");
    world.input([Input::OutboundReady("late".into())]);
    world.run_to(5 * MINUTE);
    world.input([Input::NetworkChanged]);
    world.run_to(6 * MINUTE);
    world.input([Input::Pause, Input::Resume]);
    world.run_to(7 * MINUTE);
    let reasons: BTreeSet<String> = world
        .lines(&["event=test "])
        .into_iter()
        .filter_map(|(_, line)| parse(line)?.into_iter().find(|(key, _)| key == "reason"))
        .map(|(_, reason)| reason)
        .collect();
    let words = [
        "asked",
        "connection-failed",
        "cycle",
        "depends",
        "network",
        "next-url",
        "ready",
        "recovered",
        "reload",
        "resume",
        "retry",
        "start",
        "switched",
    ];
    assert_eq!(reasons, words.map(String::from).into());
}
