//! When tests run: cycles, addresses, events, detours, readiness, sleep.

use outwatch::{Cause, Fault, Outbound, Phase, Readiness, View};
use outwatch_tests::parity::{Event, Lane, Line, Reply, Rule, Script, check};

const QUIET: &str = r#"{"ip_lookup": false}"#;
const HOUR: u64 = 3_600_000;

/// That the script reached what it is about.
fn assert_logged(trace: &[Line], event: &str) {
    let logged = |line: &Line| line.lane == Lane::Log && line.text.contains(event);
    assert!(trace.iter().any(logged), "nothing logged {event}");
}

#[test]
fn c_cycles_in_order_with_few_workers_until_idle_and_after_activity() {
    let script = Script::new(
        r#"{"workers": 2, "interval": "1m", "idle_timeout": "4m", "ip_lookup": false}"#,
    )
    .outbound("slow", [Reply::ok(900)])
    .outbound("fast", [Reply::ok(30)])
    .outbound("silent", [Reply::Silent])
    .outbound("flaky", [Reply::refused(20), Reply::ok(50)])
    .outbound("never", [Reply::Stuck])
    .outbound("late", [Reply::Late(40_000), Reply::ok(70)])
    .watched()
    .at(HOUR, Event::Activity)
    .at(HOUR + 300, Event::Activity)
    .at(HOUR + 1_400, Event::Activity)
    .stop(2 * HOUR);
    let trace = check(&script);
    for event in ["event=idle", "event=wake", "stuck"] {
        assert_logged(&trace, event);
    }
}

#[test]
fn c4_a_cycle_without_success_goes_through_the_addresses() {
    let options = r#"{"urls": ["http://one.test/generate_204", "http://two.test/", "https://three.test/generate_204"], "ip_lookup": false}"#;
    let script = Script::new(options)
        .outbound("a", [Reply::refused(10)])
        .outbound("b", [Reply::status(25, 502)])
        .rule(Rule::tests("a", [Reply::status(40, 200)]).of("two.test"))
        .rule(
            Rule::tests(
                "b",
                [Reply::header(31, 302, "location", "http://elsewhere.test/")],
            )
            .of("two.test"),
        )
        .watched()
        .at(400_000, Event::Activity)
        .at(400_500, Event::Rule(Rule::tests("a", [Reply::refused(12)])))
        .stop(HOUR);
    assert_logged(&check(&script), "event=next_url");
}

#[test]
fn e_events_test_at_once_and_changes_of_the_network_test_again() {
    let script = Script::new(QUIET)
        .outbound("a", [Reply::ok(100), Reply::refused(40), Reply::ok(60)])
        .outbound("b", [Reply::ok(200)])
        .outbound("c", [Reply::ok(300), Reply::Silent])
        .group("choice", &["a", "b", "c"], Some("a"))
        .behind("choice", "d", [Reply::ok(80)])
        .watched()
        .at(20_000, Event::Failed("a".into(), Fault::Outbound, 50))
        .at(20_500, Event::Failed("a".into(), Fault::Outbound, 3))
        .at(20_600, Event::Failed("b".into(), Fault::Destination, 3))
        .at(20_700, Event::Failed("b".into(), Fault::Client, 1))
        .at(30_000, Event::Select("choice".into(), "b".into()))
        .at(31_000, Event::Select("choice".into(), "c".into()))
        .at(31_500, Event::NetworkChanged)
        .at(32_700, Event::NetworkChanged)
        .at(60_000, Event::Pause)
        .at(61_000, Event::NetworkChanged)
        .at(500_000, Event::Ask("b".into()))
        .at(600_000, Event::Resume)
        .stop(800_000);
    let trace = check(&script);
    for reason in [
        "connection-failed",
        "switched",
        "depends",
        "network",
        "resume",
    ] {
        assert_logged(&trace, &format!("reason={reason}"));
    }
}

#[test]
fn e7_the_immediate_lane_has_a_limit() {
    let options = r#"{"immediate_limit": 1, "workers": 1, "ip_lookup": false}"#;
    let script = Script::new(options)
        .outbound("a", [Reply::ok(700)])
        .outbound("b", [Reply::ok(600)])
        .outbound("c", [Reply::ok(500)])
        .watched()
        .at(60_000, Event::Failed("a".into(), Fault::Outbound, 1))
        .at(60_010, Event::Failed("b".into(), Fault::Outbound, 1))
        .at(60_020, Event::Ask("c".into()))
        .at(60_030, Event::Ask("c".into()))
        .stop(100_000);
    check(&script);
}

#[test]
fn d_gates_of_detours_and_of_outbounds_that_are_not_ready() {
    let script = Script::new(QUIET)
        .outbound("base", [Reply::Silent, Reply::ok(40)])
        .behind("base", "over", [Reply::refused(15), Reply::ok(90)])
        .behind("nowhere", "lost", [Reply::ok(20)])
        .behind("pool", "pooled", [Reply::ok(110)])
        .outbound("late", [Reply::ok(10)])
        .outbound("never", [Reply::ok(11)])
        .outbound("foreign", [Reply::ok(12)])
        .group("pool", &["base", "late"], None)
        .status("late", Readiness::NotReady("connecting".into()))
        .status("never", Readiness::NotReady("registering".into()))
        .status("foreign", Readiness::Unsupported("build with it".into()))
        .entry(Outbound {
            kind: outwatch::Kind::Untestable,
            ..Outbound::new("block", "block")
        })
        .watched()
        .at(2_500, Event::Ask("never".into()))
        .at(4_100, Event::Ask("block".into()))
        .at(4_200, Event::Ask("nobody".into()))
        .at(7_300, Event::Ready("late".into()))
        .at(
            9_000,
            Event::Status("late".into(), Readiness::NotReady("again".into())),
        )
        .at(9_500, Event::Ask("over".into()))
        .at(350_000, Event::Ready("late".into()))
        .at(360_000, Event::Reports(View::Confirmed))
        .stop(700_000);
    let trace = check(&script);
    for event in [
        "event=gated",
        "event=not_ready",
        "reason=ready",
        "reason=recovered",
    ] {
        assert_logged(&trace, event);
    }
}

#[test]
fn c6_a_device_that_slept_catches_nothing_up() {
    let script = Script::new(QUIET)
        .outbound("a", [Reply::ok(100)])
        .outbound("b", [Reply::Silent])
        .watched()
        .at(20_000, Event::WallJump(8 * HOUR))
        .at(20_500, Event::Activity)
        .at(90_000, Event::WallJump(1_000))
        .at(90_500, Event::Activity)
        .at(95_000, Event::Reports(View::Display))
        .stop(200_000);
    assert_logged(&check(&script), "event=network_changed");
}

#[test]
fn the_list_of_outbounds_changes_and_nothing_is_mixed_up() {
    let plain = |tag: &str| Outbound::new(tag, "stub");
    let list = vec![
        plain("b"),
        Outbound::group("all", "urltest", ["b", "c"]),
        Outbound {
            kind: outwatch::Kind::Endpoint,
            detour: Some("b".into()),
            ..plain("c")
        },
        Outbound {
            fingerprint: "moved".into(),
            ..plain("d")
        },
    ];
    let script = Script::new(QUIET)
        .outbound("a", [Reply::ok(100)])
        .outbound("b", [Reply::ok(2_000)])
        .outbound("d", [Reply::ok(30)])
        .rule(Rule::tests("c", [Reply::ok(70)]))
        .group("all", &["a", "b", "d"], Some("a"))
        .watched()
        .at(900, Event::Outbounds(list))
        .at(5_000, Event::Outbounds(vec![plain("a")]))
        .at(9_000, Event::Ask("all".into()))
        .stop(60_000);
    assert_logged(&check(&script), "reason=reload");
}

#[test]
fn t10_every_cause_has_the_same_kind_and_text_on_both_sides() {
    let causes = [
        (Phase::Dial, Cause::Refused),
        (Phase::Dial, Cause::DialTimeout),
        (Phase::Dial, Cause::DnsFailed),
        (Phase::Dial, Cause::DnsTimeout),
        (Phase::Dial, Cause::NoRoute),
        (Phase::Proxy, Cause::ProxyAuth),
        (Phase::Proxy, Cause::ProxyHandshake),
        (Phase::Proxy, Cause::Eof),
        (Phase::Tls, Cause::TlsFailed),
        (Phase::Tls, Cause::TlsCertificate),
        (Phase::Http, Cause::HttpMalformed),
        (Phase::Http, Cause::Eof),
        (Phase::Http, Cause::Reset),
        (Phase::Http, Cause::Timeout),
        (Phase::Dial, Cause::Unsupported),
        (Phase::Dial, Cause::Other),
        (Phase::Proxy, Cause::Other),
        (Phase::Http, Cause::Other),
    ];
    let script = causes.iter().enumerate().fold(
        Script::new(QUIET).watched(),
        |script, (nth, &(phase, cause))| {
            script.outbound(&format!("o{nth}"), [Reply::fails(10, phase, cause)])
        },
    );
    check(&script.stop(20_000));
}
