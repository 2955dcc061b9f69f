//! What a cycle finds out: the delay through each outbound, and where it comes out.

use std::time::Duration;

use outwatch::{DelaySource, IpInfo, State};
use outwatch_tests::peers::{
    Authority, EXITS, Exit, Inbound, Microsocks, Nginx, Relay, SingBox, Site, Tinyproxy, socks,
    through, with,
};
use serde_json::json;

use super::world::{describe_config, shown, start, tested};

/// What the IP service of `web` says about `exit`.
fn ip_info(exit: &Exit, tls: bool) -> IpInfo {
    IpInfo {
        ip: exit.address.to_owned(),
        country_code: Some(exit.country.to_owned()),
        region: Some(exit.region.to_owned()),
        city: Some(exit.city.to_owned()),
        asn: Some(exit.asn),
        org: Some(exit.org.to_owned()),
        service: "127.0.0.1".to_owned(),
        tls,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t8_every_outbound_gets_its_delay_and_the_ip_that_it_comes_out_of() {
    let web = Nginx::plain();
    let german = Microsocks::leaving_from(&EXITS[1]);
    let japanese = Tinyproxy::leaving_from(&EXITS[2]);
    let american = SingBox::start([Inbound::socks().leaving_from(&EXITS[3])]);
    let url = web.url("/generate_204");
    let monitor = start(
        &[
            json!({ "type": "direct", "tag": "home" }),
            german.outbound("german"),
            japanese.outbound("japanese"),
            american.outbound(0, "american"),
        ],
        &json!({ "urls": [url], "ipinfo_url": web.url("/ip"), "url_test_timeout": "30s" }),
    )
    .await;
    let tags = ["home", "german", "japanese", "american"];
    for (tag, exit) in tags.into_iter().zip(&EXITS) {
        let report = shown(&monitor, tag, |report| report.ip.is_some()).await;
        assert_eq!(report.state, State::Ok, "{report:#?}");
        assert!(report.delay_ms >= Some(1), "{report:#?}");
        assert_eq!(report.url.as_ref(), Some(&url), "{report:#?}");
        assert_eq!(report.error, None, "{report:#?}");
        assert_eq!(report.ip, Some(ip_info(exit, false)), "{report:#?}");
        assert!(!report.from_cache && !report.ip_from_cache, "{report:#?}");
        assert!(report.tested_at.is_some() && report.last_ok_at.is_some());
    }
    monitor.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_a_slow_way_shows_in_the_delay() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let slow = Relay::slow(proxy.port(), Duration::from_millis(400));
    let monitor = start(
        &[proxy.outbound("fast"), socks("slow", slow.port())],
        &json!({
            "urls": [web.url("/generate_204")], "ip_lookup": false, "url_test_timeout": "30s",
        }),
    )
    .await;
    let report = tested(&monitor, "slow").await;
    assert!(report.delay_ms >= Some(400), "{report:#?}");
    assert_eq!(report.delay_source, Some(DelaySource::Url));
    assert_eq!(tested(&monitor, "fast").await.state, State::Ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_a_chain_over_tls_is_tested_to_its_end() {
    let authority = Authority::new("Chain Authority");
    let leaf = authority.leaf(&["127.0.0.1"]);
    let web = Nginx::start(&[Site::Tls(&leaf)]);
    let first = Microsocks::leaving_from(&EXITS[1]);
    let second = Tinyproxy::leaving_from(&EXITS[2]);
    let third = SingBox::start([Inbound::http()
        .tls(&leaf)
        .account("ann", "secret")
        .leaving_from(&EXITS[3])]);
    let site = format!("https://127.0.0.1:{}", web.port(0));
    let monitor = describe_config(&json!({
        "outbounds": [
            through(third.outbound(0, "last"), "middle"),
            through(second.outbound("middle"), "choice"),
            { "type": "selector", "tag": "choice", "outbounds": ["first"] },
            first.outbound("first"),
        ],
        "certificate": { "certificate": authority.pem() },
        "experimental": { "monitoring": {
            "urls": [format!("{site}/generate_204")],
            "ipinfo_url": format!("{site}/ip"),
            "url_test_timeout": "30s",
        } },
    }));
    let monitor = monitor.start().await.unwrap();
    let expected = [
        ("first", &EXITS[1]),
        ("choice", &EXITS[1]),
        ("middle", &EXITS[2]),
        ("last", &EXITS[3]),
    ];
    for (tag, exit) in expected {
        let report = shown(&monitor, tag, |report| report.ip.is_some()).await;
        assert_eq!(report.state, State::Ok, "{report:#?}");
        assert_eq!(report.ip, Some(ip_info(exit, true)), "{report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c4_the_next_url_is_used_when_the_first_is_dead() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let working = web.url("/generate_204");
    let monitor = start(
        &[proxy.outbound("proxy")],
        &json!({
            "urls": [web.url("/error"), working], "ip_lookup": false, "url_test_timeout": "30s",
        }),
    )
    .await;
    let report = shown(&monitor, "proxy", |report| report.state == State::Ok).await;
    assert_eq!(report.url, Some(working));
}

#[tokio::test(flavor = "multi_thread")]
async fn t3_a_warm_round_trip_is_the_delay_with_unified_delay() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let monitor = start(
        &[with(proxy.outbound("proxy"), json!({}))],
        &json!({
            "urls": [web.url("/generate_204")], "ip_lookup": false, "unified_delay": true,
            "url_test_timeout": "30s",
        }),
    )
    .await;
    let report = tested(&monitor, "proxy").await;
    assert!(report.warm && report.delay_ms >= Some(1), "{report:#?}");
}
