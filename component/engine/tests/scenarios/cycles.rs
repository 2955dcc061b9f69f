//! C: cycles.

use std::collections::BTreeMap;

use outwatch_engine::{Cause, ErrorKind, Input, State};

use crate::world::{Reply, World, ok, refused, seconds, silent};

const MINUTE: u64 = 60_000;

#[test]
fn c1_group_leaves_come_first_past_the_workers_and_each_once() {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("a", [ok(100)])
        .outbound("b", [ok(100)])
        .outbound("c", [ok(100)])
        .group("inner", &["b", "c"], Some("c"))
        .group("outer", &["inner", "a"], Some("inner"))
        .group("other", &["c"], Some("c"))
        .start();
    let first: Vec<(u64, &str)> = world
        .url_tests()
        .map(|sent| (sent.at, sent.probe.tag.as_str()))
        .collect();
    assert_eq!(
        first,
        [(0, "c"), (0, "a")],
        "c on the immediate lane, a by the one worker"
    );
    world.run_to(1_000);
    assert_eq!(world.tests("c"), [0]);
    assert_eq!(
        world.lines(&["event=test ", "\"c\"", "reason=start"]).len(),
        1
    );
}

#[test]
fn c1_cycles_run_every_interval_and_test_all_that_the_last_one_tested() {
    let mut world = World::new().options(|options| options.workers = 1);
    for tag in ["a", "b", "c"] {
        world = world.outbound(tag, [ok(700)]);
    }
    let mut world = world.start();
    world.run_to(6 * MINUTE);
    assert_eq!(world.tests("c"), [1_400, 5 * MINUTE + 1_400]);
}

#[test]
fn c2_workers_bound_a_sliding_window() {
    let mut world = World::new().options(|options| options.workers = 2);
    for (tag, delay) in [("a", 1_000), ("b", 100), ("c", 100), ("d", 100)] {
        world = world.outbound(tag, [ok(delay)]);
    }
    let mut world = world.start();
    world.run_to(5_000);
    assert_eq!((world.tests("c"), world.tests("d")), (vec![100], vec![200]));
    assert_eq!(world.most_at_once, 2);
}

#[test]
fn c2_order_is_fastest_then_untested_then_failed_then_config_order() {
    let mut first = World::new()
        .outbound("slow", [ok(900)])
        .outbound("fast", [ok(30)])
        .start();
    first.run_to(2_000);
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("new", [ok(10)])
        .outbound("slow", [refused(10), ok(900)])
        .outbound("newer", [ok(10)])
        .outbound("fast", [ok(30)])
        .saved(&first.pairs)
        .start();
    world.run_to(MINUTE);
    assert_eq!(world.order(), ["fast", "slow", "new", "newer"]);
    world.run_to(6 * MINUTE);
    let second: Vec<&str> = world
        .url_tests()
        .skip(4)
        .map(|sent| sent.probe.tag.as_str())
        .collect();
    assert_eq!(second, ["new", "newer", "fast", "slow"]);
}

#[test]
fn c2_a_fresh_result_is_not_tested_again_and_a_cached_one_is_not_fresh() {
    let mut first = World::new().outbound("a", [ok(900)]).start();
    first.run_to(2_000);
    let mut world = World::new()
        .outbound("a", [ok(100)])
        .saved(&first.pairs)
        .start();
    assert_eq!(world.tests("a"), [0]);
    world.run_to(4 * MINUTE);
    let ticket = world.ask("a");
    world.run_to(6 * MINUTE);
    assert!(world.answer(ticket).is_some());
    assert_eq!(
        world.tests("a"),
        [0, 4 * MINUTE],
        "the cycle at five minutes finds it fresh"
    );
}

#[test]
fn c3_a_cycle_asked_for_while_one_runs_comes_once_after_it() {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("a", [ok(10)]);
    for tag in ["b", "c"] {
        world = world.outbound(tag, [ok(4_000)]);
    }
    let mut world = world
        .options(|options| options.interval = seconds(3))
        .start();
    world.run_to(8_010);
    let starts: Vec<u64> = world
        .lines(&["event=cycle_start"])
        .iter()
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(starts, [0, 8_010]);
}

#[test]
fn c4_the_next_address_is_tried_when_a_whole_cycle_had_no_success_and_stays() {
    let mut world = World::new().options(|options| {
        options.urls = vec!["http://dead.test/".into(), "http://live.test/".into()];
    });
    for tag in ["a", "b"] {
        world = world
            .outbound(tag, [ok(50)])
            .url_reply(tag, "dead", [refused(10)]);
        world.replies_for(
            tag,
            "live",
            [Reply::Status {
                after: 50,
                status: 200,
                headers: vec![],
                body: String::new(),
            }],
        );
    }
    let mut world = world.start();
    world.run_to(1_000);
    assert_eq!(
        world.confirmed("b").url.as_deref(),
        Some("http://live.test/")
    );
    assert_eq!(world.lines(&["event=test ", "reason=next-url"]).len(), 2);
    world.ask("a");
    assert_eq!(
        world.url_tests().last().unwrap().probe.request.url,
        "http://live.test/"
    );
    world.run_to(5 * MINUTE + 1_000);
    let dead = world
        .url_tests()
        .filter(|sent| sent.probe.request.url.contains("dead"))
        .count();
    assert_eq!(dead, 2, "the address that worked is used from then on");
}

#[test]
fn c4_one_success_is_enough_to_stay() {
    let mut world = World::new()
        .options(|options| {
            options.urls = vec!["http://one.test/".into(), "http://two.test/".into()];
        })
        .outbound("a", [refused(10)])
        .outbound("b", [crate::world::status(50, 200)])
        .start();
    world.run_to(MINUTE);
    assert!(
        world
            .url_tests()
            .all(|sent| sent.probe.request.url == "http://one.test/")
    );
}

#[test]
fn c4_when_all_addresses_fail_the_first_is_back() {
    let urls: Vec<String> = vec!["http://one.test/".into(), "http://two.test/".into()];
    let mut world = World::new()
        .options(|options| options.urls = urls)
        .outbound("a", [refused(10)])
        .start();
    world.run_to(MINUTE);
    assert_eq!(world.tests("a"), [0, 10]);
    world.run_to(5 * MINUTE);
    assert_eq!(
        world.url_tests().nth(2).unwrap().probe.request.url,
        "http://one.test/"
    );
}

#[test]
fn c4_a_cycle_broken_off_while_it_tries_another_address_restores_the_first() {
    let urls: Vec<String> = vec!["http://one.test/".into(), "http://two.test/".into()];
    let mut world = World::new()
        .options(|options| {
            options.urls = urls;
            options.workers = 1;
            options.idle_timeout = seconds(3);
        })
        .outbound("a", [refused(10)])
        .outbound("b", [refused(10), silent()])
        .outbound("c", [refused(10)])
        .start();
    world.run_to(MINUTE);
    let last = |world: &World| {
        world
            .url_tests()
            .last()
            .map(|sent| sent.probe.request.url.clone())
    };
    assert_eq!(last(&world).as_deref(), Some("http://two.test/"));
    world.input([Input::Activity]);
    assert_eq!(last(&world).as_deref(), Some("http://one.test/"));
}

#[test]
fn c4_a_cycle_in_which_nothing_could_be_tested_moves_nothing() {
    let urls: Vec<String> = vec!["http://one.test/".into(), "http://two.test/".into()];
    let mut world = World::new()
        .options(|options| options.urls = urls)
        .outbound("a", [crate::world::not_ready("connecting")])
        .start();
    world.run_to(20_000);
    assert!(
        world
            .url_tests()
            .all(|sent| sent.probe.request.url == "http://one.test/")
    );
    assert_eq!(world.lines(&["event=next_url"]).len(), 0);
}

#[test]
fn c5_a_test_that_never_comes_back_is_stuck_and_its_worker_goes_on() {
    let mut world = World::new()
        .options(|options| options.workers = 1)
        .outbound("lost", [Reply::Stuck(None)])
        .outbound("next", [ok(50)])
        .start();
    world.run_to(16_999);
    assert!(world.tests("next").is_empty());
    world.run_to(20_000);
    assert_eq!(
        world.confirmed("lost").error.unwrap().kind,
        ErrorKind::Stuck
    );
    assert_eq!(world.tests("next"), [17_000]);
    assert!(world.canceled.is_empty(), "its late return is to be seen");
}

#[test]
fn c5_a_late_return_changes_nothing() {
    let mut world = World::new()
        .outbound("a", [Reply::Stuck(Some(30_000)), ok(100)])
        .start();
    world.run_to(20_000);
    world.ask("a");
    world.run_to(29_000);
    let before = world.confirmed("a");
    assert_eq!(before.delay_ms, Some(100));
    world.run_to(31_000);
    assert_eq!(world.confirmed("a").revision, before.revision);
    assert_eq!(world.lines(&["event=late"]).len(), 1);
}

#[test]
fn c5_with_two_tests_lost_an_outbound_is_failed_at_once_until_one_returns() {
    let mut world = World::new()
        .options(|options| options.interval = seconds(60))
        .outbound(
            "a",
            [Reply::Stuck(Some(200_000)), Reply::Stuck(None), ok(100)],
        )
        .start();
    world.run_to(119_000);
    assert_eq!(world.tests("a"), [0, 60_000]);
    world.run_to(121_000);
    assert_eq!(world.tests("a"), [0, 60_000], "nothing more is sent");
    assert_eq!(world.confirmed("a").error.unwrap().kind, ErrorKind::Stuck);
    assert_eq!(
        world.confirmed("a").age_ms,
        Some(1_000),
        "but it was failed at once"
    );
    world.run_to(241_000);
    assert_eq!(world.confirmed("a").delay_ms, Some(100));
}

#[test]
fn c6_eight_hours_of_sleep_make_one_cycle_not_96() {
    let mut world = World::new()
        .options(|options| options.idle_timeout = seconds(24 * 3_600))
        .outbound("a", [ok(100)])
        .start();
    world.run_to(MINUTE);
    world.sleep_to(8 * 60 * MINUTE);
    world.input([]);
    world.run_to(8 * 60 * MINUTE + 4 * MINUTE);
    assert_eq!(world.tests("a"), [0, 8 * 60 * MINUTE + 2_000]);
    assert_eq!(world.lines(&["event=test ", "reason=resume"]).len(), 1);
}

#[test]
fn c6_a_wall_clock_that_ran_ahead_is_sleep_and_a_failure_of_that_time_is_not_published() {
    let mut world = World::new()
        .outbound("a", [ok(100), silent(), ok(100)])
        .start();
    world.run_to(5 * MINUTE + 1_000);
    world.wall_ahead_ms = 8 * 60 * MINUTE;
    world.run_to(5 * MINUTE + 30_000);
    assert_eq!(world.confirmed("a").state, State::Ok);
    assert_eq!(world.confirmed("a").stats.failed, 0);
}

#[test]
fn c6_a_wall_clock_that_goes_back_gives_no_negative_age() {
    let mut first = World::new().outbound("a", [ok(100)]).start();
    first.run_to(60_000);
    let mut world = World::new().outbound("a", [silent()]).saved(&first.pairs);
    world.pairs = first
        .pairs
        .iter()
        .map(|(key, value)| (key.clone(), later(value)))
        .collect();
    let world = world.start();
    assert_eq!(world.confirmed("a").age_ms, Some(0));
}

/// The same saved pair with a time of success in the far future.
fn later(value: &[u8]) -> Vec<u8> {
    let mut pair: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(value).expect("a saved pair");
    pair.insert("ok_at".into(), 9_000_000_000_000u64.into());
    serde_json::to_vec(&pair).expect("a saved pair")
}

#[test]
fn c3_e3_the_cycle_takes_the_result_of_a_test_that_runs_already() {
    let urls: Vec<String> = vec!["http://one.test/".into(), "http://two.test/".into()];
    let mut world = World::new()
        .options(|options| options.urls = urls)
        .outbound("a", [refused(500)])
        .group("g", &["a"], Some("a"))
        .start();
    world.run_to(MINUTE);
    assert_eq!(
        world.tests("a"),
        [0, 500],
        "the start's test failed, so the cycle tries the next address"
    );
    world.connection_failed("a", Cause::Client);
    world.input([Input::Activity]);
    assert_eq!(world.tests("a").len(), 2);
}
