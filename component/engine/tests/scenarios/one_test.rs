//! T: one test.

use outwatch_engine::{DelaySource, ErrorKind, ExpectedStatus, Kind, State};

use crate::world::{Reply, World, body, group, ok, outbound, refused, silent, status};

#[test]
fn t1_outbounds_and_endpoints_are_tested_groups_and_untestable_are_not() {
    let mut world = World::new()
        .outbound("a", [ok(50)])
        .group("g", &["a"], Some("a"));
    world = world.entry(outwatch_engine::Outbound {
        kind: Kind::Untestable,
        ..outbound("block")
    });
    world = world.entry(outwatch_engine::Outbound {
        kind: Kind::Endpoint,
        ..outbound("wg")
    });
    world.replies("wg", [ok(70)]);
    let mut world = world.start();
    world.run_to(1_000);
    assert_eq!(world.order(), ["a", "wg"]);
    assert_eq!(world.confirmed("wg").delay_ms, Some(70));
    assert_eq!(world.confirmed("block").state, State::Untested);
}

#[test]
fn t2_a_test_is_one_head_to_the_url_and_reads_no_body() {
    let world = World::new().outbound("a", [ok(50)]).start();
    let sent = &world.sent[0];
    assert!(sent.probe.request.head && !sent.probe.request.repeat && !sent.probe.forced);
    assert_eq!(
        sent.probe.request.url,
        "https://www.gstatic.com/generate_204"
    );
    assert_eq!(sent.probe.request.body_limit, 0);
    assert_eq!(sent.probe.request.deadline.as_secs(), 5);
}

#[test]
fn t3_with_unified_delay_the_second_round_trip_is_the_delay() {
    let mut world = World::new()
        .options(|options| options.unified_delay = true)
        .outbound(
            "a",
            [Reply::Twice {
                first: 300,
                second: Some(90),
            }],
        )
        .outbound(
            "b",
            [Reply::Twice {
                first: 300,
                second: None,
            }],
        )
        .start();
    world.run_to(1_000);
    assert!(world.sent[0].probe.request.repeat);
    assert_eq!(
        (world.confirmed("a").delay_ms, world.confirmed("a").warm),
        (Some(90), true)
    );
    assert_eq!(
        (world.confirmed("b").delay_ms, world.confirmed("b").warm),
        (Some(300), false)
    );
}

#[test]
fn t4_an_answer_in_no_time_has_a_delay_of_1() {
    let mut world = World::new().outbound("a", [ok(0)]).start();
    world.run_to(10);
    assert_eq!(world.confirmed("a").delay_ms, Some(1));
}

#[test]
fn t5_a_status_that_is_not_expected_fails_and_is_named() {
    let mut world = World::new().outbound("a", [status(50, 502)]).start();
    world.run_to(1_000);
    let error = world.confirmed("a").error.unwrap();
    assert_eq!(
        (error.kind, error.text.as_str()),
        (ErrorKind::HttpStatus, "status 502")
    );
}

#[test]
fn t5_any_takes_every_answer() {
    let mut world = World::new()
        .options(|options| options.expected_status = ExpectedStatus::Any)
        .outbound("a", [status(50, 502)])
        .start();
    world.run_to(1_000);
    assert_eq!(world.confirmed("a").state, State::Ok);
}

#[test]
fn t6_a_silent_outbound_is_failed_at_the_timeout_and_keeps_its_error() {
    let mut world = World::new().outbound("a", [silent()]).start();
    world.run_to(4_999);
    assert_eq!(world.confirmed("a").state, State::Untested);
    world.run_to(60_000);
    let report = world.confirmed("a");
    assert_eq!(report.state, State::Failed);
    assert_eq!(report.error.unwrap().kind, ErrorKind::Timeout);
    assert_eq!(report.delay_ms, None);
}

#[test]
fn t7_t8_the_delay_is_there_before_the_ip_and_a_faster_lookup_lowers_it() {
    let ip = crate::world::address("9.9.9.9");
    let mut world = World::new()
        .options(|options| options.ip_lookup = true)
        .outbound("a", [ok(200), ok(200)])
        .url_reply("a", "", [body(80, &ip)])
        .url_reply("a", "generate_204", [ok(200)])
        .start();
    world.run_to(200);
    assert_eq!(world.confirmed("a").delay_ms, Some(200));
    assert_eq!(world.confirmed("a").ip, None);
    world.run_to(1_000);
    let report = world.confirmed("a");
    assert_eq!(report.ip.unwrap().ip, "9.9.9.9");
    assert_eq!(
        (report.delay_ms, report.delay_source),
        (Some(80), Some(DelaySource::IpInfo))
    );
    assert_eq!(world.tests("a").len(), 1, "a lookup is no new test");
    assert_eq!(report.stats.count, 1);
}

#[test]
fn t8_a_slower_lookup_never_raises_the_delay() {
    let mut world = World::new()
        .options(|options| options.ip_lookup = true)
        .outbound("a", [ok(50)])
        .url_reply("a", "json", [body(300, &crate::world::address("9.9.9.9"))])
        .url_reply("a", "generate_204", [ok(50)])
        .start();
    world.replies("a", [body(300, &crate::world::address("9.9.9.9"))]);
    world.run_to(1_000);
    let report = world.confirmed("a");
    assert_eq!(
        (report.delay_ms, report.delay_source),
        (Some(50), Some(DelaySource::Url))
    );
    assert!(report.ip.is_some());
}

#[test]
fn t9_lookups_hold_no_worker_and_have_a_pool_of_the_same_size() {
    let mut world = World::new().options(|options| {
        options.ip_lookup = true;
        options.workers = 2;
    });
    for tag in ["a", "b", "c", "d", "e"] {
        world = world
            .outbound(tag, [silent()])
            .url_reply(tag, "generate_204", [ok(100)]);
    }
    let mut world = world.start();
    world.run_to(300);
    assert_eq!(
        world.url_tests().count(),
        5,
        "tests go on while lookups hang"
    );
    assert_eq!(world.sent.len() - 5, 2);
}

#[test]
fn t10_the_kind_and_text_of_a_failure_stand_in_the_report() {
    let mut world = World::new().outbound("a", [refused(100)]).start();
    world.run_to(1_000);
    let error = world.confirmed("a").error.unwrap();
    assert_eq!(
        (error.kind.as_str(), error.text.as_str()),
        ("dial_refused", "scripted dial_refused")
    );
}

#[test]
fn t1_a_group_alone_tests_nothing() {
    let mut world = World::new().entry(group("g", &[])).start();
    world.run_to(1_000);
    assert!(world.sent.is_empty());
    assert_eq!(world.confirmed("g").state, State::Untested);
}
