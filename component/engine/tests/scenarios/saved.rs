//! P: saved results.

use std::collections::BTreeMap;

use outwatch_engine::{Input, Kind, Outbound, SAVED_PREFIX, State};

use crate::world::{START_WALL_MS, World, address, body, group, ok, outbound, refused, silent};

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;

fn pairs_of(replies: impl Into<Vec<crate::world::Reply>>) -> BTreeMap<String, Vec<u8>> {
    let mut world = World::new()
        .outbound("a", replies)
        .group("g", &["a"], Some("a"))
        .start();
    world.run_to(MINUTE);
    world.pairs
}

#[test]
fn p1_results_come_back_from_the_cache_with_their_time_and_ip() {
    let mut first = World::new()
        .options(|options| options.ip_lookup = true)
        .outbound("a", [body(10, &address("9.9.9.9"))])
        .url_reply("a", "generate_204", [ok(80)]);
    for service in ["ip-api", "ipwho"] {
        let answer = r#"{"ip":"9.9.9.9","query":"9.9.9.9","status":"success","success":true}"#;
        first.replies_for("a", service, [body(100, answer)]);
    }
    let mut first = first.start();
    first.run_to(MINUTE);
    let mut second = World::new().outbound("a", [silent()]).saved(&first.pairs);
    second.make();
    let report = second.confirmed("a");
    assert_eq!(report.state, State::Cached);
    assert!(report.from_cache && report.ip_from_cache && report.delay_ms.is_some());
    assert_eq!(report.last_ok_at, Some(START_WALL_MS + 80));
    assert_eq!(report.ip.map(|ip| ip.ip), Some("9.9.9.9".into()));
    assert_eq!(report.stats.count, 0);
}

#[test]
fn p1_the_last_success_is_saved_never_an_error_and_never_a_group() {
    let pairs = pairs_of([ok(80)]);
    assert_eq!(pairs.len(), 1);
    assert!(pairs.keys().all(|key| key.starts_with(SAVED_PREFIX)));
    assert!(pairs_of([refused(10)]).is_empty());
    let mut world = World::new().outbound("a", [ok(80), refused(10)]).start();
    world.run_to(6 * MINUTE);
    assert_eq!(world.confirmed("a").state, State::Failed);
    let mut next = World::new().outbound("a", [silent()]).saved(&world.pairs);
    next.make();
    assert_eq!(
        (next.confirmed("a").state, next.confirmed("a").delay_ms),
        (State::Cached, Some(80))
    );
}

#[test]
fn p2_a_tag_reused_by_another_server_inherits_nothing() {
    let other = Outbound {
        fingerprint: "other.example:443".into(),
        ..outbound("a")
    };
    let mut world = World::new().entry(other).saved(&pairs_of([ok(80)]));
    world.make();
    assert_eq!(world.confirmed("a").state, State::Untested);
}

#[test]
fn p2_tags_and_fingerprints_of_any_content_come_back() {
    for (tag, fingerprint) in [("a/b", "x"), ("🇩🇪 de #1 50%", "x/y"), ("b", "a/"), ("", "")] {
        let entry = Outbound {
            fingerprint: fingerprint.into(),
            ..outbound(tag)
        };
        let mut first = World::new().entry(entry.clone());
        first.replies(tag, [ok(80)]);
        let mut first = first.start();
        first.run_to(MINUTE);
        let mut second = World::new().entry(entry).saved(&first.pairs);
        second.make();
        assert_eq!(second.confirmed(tag).delay_ms, Some(80));
    }
}

#[test]
fn p2_entries_of_gone_tags_stay_for_30_days() {
    let pairs = pairs_of([ok(80)]);
    for (days, kept) in [(29, true), (31, false)] {
        let mut world = World::new().outbound("b", [ok(10)]).saved(&pairs);
        world.wall_ahead_ms = days * DAY;
        let mut world = world.start();
        world.run_to(MINUTE);
        assert_eq!(world.pairs.keys().any(|key| key.ends_with("/a")), kept);
    }
}

#[test]
fn p2_at_most_10_000_entries_of_gone_tags_stay_the_youngest() {
    let (_, value) = pairs_of([ok(80)]).pop_first().expect("a pair");
    let text = String::from_utf8(value).expect("JSON");
    let mut pairs = BTreeMap::new();
    for nth in 0..10_002u64 {
        let mut pair: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        pair["saved_at"] = (START_WALL_MS - 1_000_000 + nth).into();
        pairs.insert(format!("result/x/{nth:05}"), pair.to_string().into_bytes());
    }
    let mut world = World::new().outbound("b", [ok(10)]).saved(&pairs).start();
    world.run_to(MINUTE);
    assert_eq!(world.pairs.len(), 10_001);
    assert!(
        !world.pairs.contains_key("result/x/00001") && world.pairs.contains_key("result/x/00002")
    );
}

#[test]
fn p2_a_tag_that_leaves_and_comes_back_has_its_result_again() {
    let mut world = World::new().outbound("a", [ok(80)]).start();
    world.run_to(MINUTE);
    world.replies("b", [ok(70)]);
    world.reload(vec![outbound("b")], vec![]);
    world.run_to(2 * MINUTE);
    world.replies("a", [silent()]);
    world.reload(vec![outbound("b"), outbound("a")], vec![]);
    assert_eq!(
        (world.confirmed("a").state, world.confirmed("a").delay_ms),
        (State::Cached, Some(80))
    );
}

#[test]
fn p3_one_write_at_the_end_of_a_cycle_one_a_second_after_a_request_one_at_the_end() {
    let mut world = World::new()
        .outbound("a", [ok(80)])
        .outbound("b", [ok(900)])
        .start();
    world.run_to(MINUTE);
    assert_eq!(world.saves, [900]);
    world.ask("a");
    world.run_to(2 * MINUTE);
    assert_eq!(world.saves, [900, MINUTE + 1_080]);
    world.ask("b");
    world.run_to(2 * MINUTE + 950);
    world.input([Input::Stop]);
    assert_eq!(world.saves.last(), Some(&(2 * MINUTE + 950)));
    assert!(world.stopped);
}

#[test]
fn p3_a_cycle_that_is_broken_off_saves_what_it_found() {
    let mut world = World::new()
        .options(|options| {
            options.workers = 1;
            options.idle_timeout = std::time::Duration::from_secs(2);
        })
        .outbound("a", [ok(80)])
        .outbound("b", [silent()])
        .outbound("c", [ok(80)])
        .start();
    world.run_to(MINUTE);
    assert_eq!(world.saves, [2_000]);
    assert_eq!(world.pairs.len(), 1);
}

#[test]
fn p3_nothing_new_is_no_write() {
    let mut world = World::new().outbound("a", [refused(80)]).start();
    world.run_to(9 * MINUTE);
    world.input([Input::Stop]);
    assert!(world.saves.is_empty());
}

#[test]
fn p3_unreadable_pairs_are_removed_with_a_warning_and_newer_ones_left_alone() {
    let pairs: BTreeMap<String, Vec<u8>> = [
        ("result/x/broken".into(), b"\x00garbage".to_vec()),
        (
            "result/x/newer".into(),
            br#"{"v":99,"future":true}"#.to_vec(),
        ),
    ]
    .into();
    let mut world = World::new().outbound("a", [ok(80)]).saved(&pairs).start();
    world.run_to(MINUTE);
    assert!(!world.pairs.contains_key("result/x/broken"));
    assert!(world.pairs.contains_key("result/x/newer"));
    assert_eq!(world.lines(&["event=saved", "unreadable"]).len(), 1);
    assert_eq!(world.lines(&["event=saved", "newer version"]).len(), 1);
}

#[test]
fn p1_what_is_never_tested_is_never_restored() {
    let pairs = pairs_of([ok(80)]);
    let group = Outbound {
        fingerprint: "a.example:1080".into(),
        ..group("a", &[])
    };
    let block = Outbound {
        kind: Kind::Untestable,
        ..outbound("a")
    };
    for entry in [group, block] {
        let mut world = World::new().entry(entry).saved(&pairs);
        world.make();
        assert_eq!(world.confirmed("a").state, State::Untested);
    }
}

#[test]
fn stop_cancels_answers_and_ends() {
    let mut world = World::new().outbound("a", [silent()]).start();
    let ticket = world.ask("a");
    world.run_to(500);
    world.input([Input::Stop]);
    assert_eq!(world.probes_out(), 0);
    assert_eq!(
        world.answer(ticket),
        Some(&(500, Err(outwatch_engine::AskError::Stopped)))
    );
    world.input([Input::Activity]);
    assert_eq!(world.wake_at_ms(), None);
}
