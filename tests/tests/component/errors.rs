//! Every cause of a core's failure reaches its error kind through the contract.

use std::time::Duration;

use outwatch::{Cause, Phase, State};
use outwatch_tests::stub::{Behaviour, Stub};

use super::world::{start_paused, wait_for};

#[tokio::test(start_paused = true)]
async fn t10_every_cause_becomes_its_own_kind() {
    let table = [
        (Phase::Dial, Cause::Refused, "dial_refused"),
        (Phase::Proxy, Cause::Refused, "dial_refused"),
        (Phase::Dial, Cause::DialTimeout, "dial_timeout"),
        (Phase::Dial, Cause::DnsFailed, "dns_fail"),
        (Phase::Dial, Cause::DnsTimeout, "dns_timeout"),
        (Phase::Dial, Cause::NoRoute, "no_route"),
        (Phase::Proxy, Cause::ProxyAuth, "proxy_auth"),
        (Phase::Proxy, Cause::ProxyHandshake, "proxy_handshake"),
        (Phase::Proxy, Cause::TlsCertificate, "tls_cert"),
        (Phase::Tls, Cause::TlsFailed, "tls_fail"),
        (Phase::Tls, Cause::TlsCertificate, "tls_cert"),
        (Phase::Http, Cause::HttpMalformed, "http_malformed"),
        (Phase::Http, Cause::Eof, "eof"),
        (Phase::Proxy, Cause::Eof, "eof"),
        (Phase::Tls, Cause::Reset, "reset"),
        (Phase::Http, Cause::Timeout, "timeout"),
        (Phase::Dial, Cause::Unsupported, "unsupported"),
        (Phase::Dial, Cause::Other, "other"),
        (Phase::Proxy, Cause::Other, "other"),
        (Phase::Http, Cause::Other, "other"),
    ];
    let soon = Duration::from_millis(1);
    let tag = |phase: &Phase, cause: &Cause| format!("{phase:?} {cause:?}");
    let stub = Stub::with(
        table.map(|(phase, cause, _)| (tag(&phase, &cause), Behaviour::Fails(soon, phase, cause))),
    );
    let monitor = start_paused(&stub).await;
    for (phase, cause, kind) in &table {
        let report = monitor.test(tag(phase, cause)).await.unwrap();
        let error = report.error.expect("an error");
        assert_eq!(error.kind.as_str(), *kind, "{phase:?} {cause:?}");
        assert!(error.text.contains(&tag(phase, cause)), "{}", error.text);
    }
}

#[tokio::test(start_paused = true)]
async fn t5_a_status_that_does_not_count_is_a_failure_that_carries_it() {
    let stub = Stub::with([("a", Behaviour::Answers(Duration::from_millis(5), 502))]);
    let monitor = start_paused(&stub).await;
    let error = monitor.test("a").await.unwrap().error.expect("an error");
    assert_eq!(error.kind.as_str(), "http_status");
    assert!(error.text.contains("502"), "{}", error.text);
}

#[tokio::test(start_paused = true)]
async fn c5_an_outbound_that_never_returns_is_stuck_and_the_cycle_goes_on() {
    let stub = Stub::with([
        ("stuck", Behaviour::Stuck),
        ("fine", outwatch_tests::stub::answers(20)),
    ]);
    let monitor = super::world::start(&stub, r#"{"workers": 1, "ip_lookup": false}"#).await;
    let stuck = wait_for(&monitor, outwatch::View::Confirmed, "stuck", |report| {
        report.state == State::Failed
    });
    let report = stuck.await;
    assert_eq!(report.error.expect("an error").kind.as_str(), "stuck");
    wait_for(&monitor, outwatch::View::Confirmed, "fine", |report| {
        report.state == State::Ok
    })
    .await;
}
