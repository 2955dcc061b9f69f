//! What tests find: stages, delays, statuses, exit addresses, IPv6, saved results.

use std::collections::BTreeSet;

use outwatch::{Outbound, Scope, View};
use outwatch_tests::parity::{Event, Lane, Line, Pace, Reply, Rule, Script, check};

const QUIET: &str = r#"{"ip_lookup": false}"#;

#[test]
fn s_asked_for_tests_go_through_their_marks() {
    let script = Script::new(QUIET)
        .outbound("late", [Reply::ok(1_500)])
        .outbound("refused", [Reply::refused(100)])
        .outbound("silent", [Reply::Silent])
        .outbound("worked", [Reply::ok(50), Reply::Silent])
        .outbound(
            "relapsed",
            [Reply::ok(60), Reply::refused(100), Reply::ok(70)],
        )
        .group("all", &["late", "worked", "relapsed"], None)
        .paused()
        .watched()
        .at(10, Event::Ask("late".into()))
        .at(20, Event::Ask("refused".into()))
        .at(30, Event::Ask("silent".into()))
        .at(40, Event::Ask("worked".into()))
        .at(50, Event::Ask("relapsed".into()))
        .at(700, Event::Ask("silent".into()))
        .at(20_000, Event::Ask("worked".into()))
        .at(20_100, Event::Ask("relapsed".into()))
        .at(50_000, Event::Ask("all".into()))
        .at(80_000, Event::Ask("silent".into()))
        .stop(80_500);
    let trace = check(&script);
    let answers = trace
        .iter()
        .filter(|line| matches!(line.lane, Lane::Answer(_)));
    assert_eq!(answers.count(), 10);
}

#[test]
fn t_statuses_and_delays_of_one_connection() {
    let options = r#"{"ip_lookup": false, "unified_delay": true, "expected_status": "200/204,400-499",
        "urls": ["http://one.test/path"], "on_demand_timeouts": ["800ms"], "url_test_timeout": "2s"}"#;
    let script = Script::new(options)
        .outbound("a", [Reply::status(90, 204)])
        .outbound("b", [Reply::status(91, 301)])
        .outbound("c", [Reply::status(92, 429)])
        .outbound("d", [Reply::status(93, 500)])
        .outbound("e", [Reply::status(0, 200)])
        .watched()
        .at(10_000, Event::Ask("a".into()))
        .at(10_100, Event::Ask("b".into()))
        .stop(30_000);
    check(&script);
}

#[test]
fn i_the_services_are_asked_from_the_same_one_and_rest_as_long() {
    let mut first = BTreeSet::new();
    for seed in [0, 3, 1 << 40, u64::MAX] {
        let script = Script::new("")
            .seed(seed)
            .outbound("good", [Reply::ok(50)])
            .outbound("bad", [Reply::ok(60)])
            .outbound("odd", [Reply::ok(70)])
            .rule(Rule::lookups("good", [Reply::exit(30, "8.8.8.8", "US")]))
            .rule(Rule::lookups("bad", [Reply::status(25, 503)]))
            .rule(Rule::lookups("bad", [Reply::header(22, 429, "retry-after", "900")]).of("ip"))
            .rule(Rule::lookups("bad", [Reply::body(35, "ip=1.1.1.1\nloc=DE\n")]).of("cloudflare"))
            .rule(Rule::lookups(
                "odd",
                [
                    Reply::body(10, "<html>"),
                    Reply::exit(15, "10.0.0.1", "XX"),
                    Reply::body(20, "null"),
                    Reply::refused(25),
                    Reply::Silent,
                    Reply::exit(40, "2606:4700:4700::1111", "nl"),
                ],
            ))
            .watched()
            .at(30_000, Event::Ask("bad".into()))
            .at(60_000, Event::NetworkChanged)
            .stop(400_000);
        let trace = check(&script);
        let lookup = |line: &&Line| line.lane == Lane::Fetch && line.text.contains(" GET ");
        let mut lookups = trace.iter().filter(lookup).map(|line| line.text.as_str());
        first.extend(lookups.next().map(String::from));
        let last_resort = lookups.any(|text| text.contains("cloudflare.com"));
        assert!(last_resort, "seed {seed}");
    }
    assert!(first.len() > 1, "the seed decides: {first:?}");
}

#[test]
fn i3_an_own_service_on_this_machine_may_tell_private_addresses() {
    let script = Script::new(r#"{"ipinfo_url": "http://127.0.0.1:9/ip"}"#)
        .outbound("a", [Reply::ok(50)])
        .entry(Outbound {
            exit_follows_host: true,
            ..Outbound::new("direct", "direct")
        })
        .rule(Rule::tests("direct", [Reply::ok(20)]))
        .rule(Rule::lookups("a", [Reply::exit(30, "192.168.7.7", "US")]))
        .rule(Rule::lookups(
            "direct",
            [
                Reply::body(
                    5,
                    r#"{"ip":"9.9.9.9","org":"AS19281 \u001b[31mQuad9","city":7}"#,
                ),
                Reply::exit(6, "9.9.9.9", "CH"),
            ],
        ))
        .watched()
        .at(20_000, Event::NetworkChanged)
        .stop(60_000);
    check(&script);
}

#[test]
fn v_ipv6_is_declared_or_verified() {
    let options = r#"{"verify_ipv6": true, "ip_lookup": false, "interval": "30s",
        "ipv6_declared": {"declared": true, "without": false}}"#;
    let script = Script::new(options)
        .outbound("declared", [Reply::ok(10)])
        .outbound("without", [Reply::ok(20)])
        .outbound("six", [Reply::ok(30)])
        .outbound("four", [Reply::ok(40)])
        .outbound("unsure", [Reply::ok(50)])
        .rule(Rule::ipv6("six", [Reply::ok(35)]))
        .rule(Rule::ipv6("four", [Reply::refused(15)]))
        .rule(Rule::ipv6(
            "unsure",
            [
                Reply::fails(12, outwatch::Phase::Dial, outwatch::Cause::DnsFailed),
                Reply::ok(13),
            ],
        ))
        .watched()
        .stop(100_000);
    check(&script);
}

#[test]
fn p_a_restart_takes_over_what_was_saved() {
    let known = |tag: &str, fingerprint: &str| Outbound {
        fingerprint: fingerprint.into(),
        ..Outbound::new(tag, "stub")
    };
    let script = Script::new("")
        .entry(known("a", "a.test:1"))
        .entry(known("b", "b.test:1"))
        .entry(known("c", "c.test:1"))
        .group("all", &["a", "b", "c"], Some("b"))
        .rule(Rule::tests("a", [Reply::ok(300), Reply::Silent]))
        .rule(Rule::tests("b", [Reply::ok(20)]))
        .rule(Rule::tests("c", [Reply::refused(30), Reply::ok(31)]))
        .rule(Rule::lookups("a", [Reply::exit(200, "8.8.4.4", "US")]))
        .rule(Rule::lookups(
            "b",
            [Reply::exit(15, "1.1.1.1", "AU"), Reply::status(9, 500)],
        ))
        .rule(Rule::lookups("c", [Reply::Silent]))
        .watched()
        .at(20_000, Event::Ask("c".into()))
        .at(21_500, Event::NetworkChanged)
        .stop(22_000)
        .at(
            25_000,
            Event::Outbounds(vec![
                known("c", "c.test:1"),
                known("b", "moved.test:1"),
                known("a", "a.test:1"),
            ]),
        )
        .at(30_000, Event::Start)
        .at(
            30_010,
            Event::Subscribe(Scope::All, View::Display, Pace::Eager),
        )
        .at(30_020, Event::Reports(View::Confirmed))
        .at(31_000, Event::Ask("a".into()))
        .stop(120_000);
    let trace = check(&script);
    let cached =
        |line: &Line| line.lane == Lane::Reports && line.text.contains(r#""state":"cached""#);
    assert!(trace.iter().any(cached));
}
