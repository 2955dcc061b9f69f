//! What is timed: every phase, and nothing before or after.

use std::time::Duration;

use outwatch_tests::peers::{Authority, Microsocks, Nginx, Relay, Site, socks};
use serde_json::json;

use super::world::{answer, core, core_of, fetch, head};

/// How slow the slow way is.
const DELAY: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread")]
async fn t2_the_time_holds_the_way_to_the_proxy() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let slow = Relay::slow(proxy.port(), DELAY);
    let core = core([socks("slow", slow.port())]);
    let timing = answer(&core, "slow", &web.url("/generate_204"))
        .await
        .timing;
    assert!(timing.dial >= DELAY, "{timing:?}");
    assert!(timing.first_byte >= timing.dial, "{timing:?}");
    assert!(timing.total >= timing.first_byte, "{timing:?}");
    assert_eq!((timing.dns, timing.tls, timing.repeat), (None, None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_the_time_holds_every_detour_of_the_way() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let first = Relay::slow(proxy.port(), DELAY);
    let second = Relay::slow(proxy.port(), DELAY);
    let core = core([
        socks("first", first.port()),
        outwatch_tests::peers::through(socks("second", second.port()), "first"),
    ]);
    let timing = answer(&core, "second", &web.url("/generate_204"))
        .await
        .timing;
    assert!(timing.dial >= 2 * DELAY, "{timing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_the_time_holds_the_servers_own_slowness() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let core = core([proxy.outbound("proxy")]);
    let timing = answer(&core, "proxy", &web.url("/slow")).await.timing;
    let slowness = timing.first_byte.saturating_sub(timing.dial);
    assert!(slowness >= Nginx::SLOW, "{timing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_tls_with_the_target_is_a_phase_of_its_own() {
    let authority = Authority::new("Timed Authority");
    let web = Nginx::start(&[Site::Tls(&authority.leaf(&["127.0.0.1"]))]);
    let proxy = Microsocks::start();
    let core = core_of(&json!({
        "outbounds": [proxy.outbound("proxy")],
        "certificate": { "certificate": authority.pem() },
    }));
    let url = format!("https://127.0.0.1:{}/generate_204", web.port(0));
    let timing = answer(&core, "proxy", &url).await.timing;
    let tls = timing.tls.expect("TLS was timed");
    assert!(tls > Duration::ZERO, "{timing:?}");
    assert!(timing.first_byte >= timing.dial + tls, "{timing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn t3_the_second_round_trip_is_timed_when_asked_for() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let slow = Relay::slow(proxy.port(), DELAY);
    let core = core([socks("slow", slow.port())]);
    let mut request = head(&web.url("/generate_204"));
    request.repeat = true;
    let timing = fetch(&core, "slow", &request).await.timing;
    assert!(timing.repeat.is_some(), "{timing:?}");
    assert!(timing.first_byte >= DELAY, "{timing:?}");
}
