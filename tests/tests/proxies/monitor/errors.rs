//! Every kind of error, as a cycle finds it with real servers.

use outwatch::ErrorKind::{
    DialRefused, DialTimeout, Eof, HttpMalformed, HttpStatus, ProxyAuth, ProxyHandshake, Reset,
    Timeout, TlsCert, TlsFail,
};
use outwatch::{ErrorKind, Report, State};
use outwatch_tests::peers::{
    Authority, Deaf, Inbound, Manners, Microsocks, Nginx, Port, Rude, SingBox, Site, http, socks,
    through, with,
};
use serde_json::{Value, json};

use super::world::{shown, start, tested};

/// Long for what answers, short for what never does.
const TIMEOUT: &str = "4s";

fn kind(report: &Report) -> Option<ErrorKind> {
    report.error.as_ref().map(|error| error.kind)
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_every_bad_proxy_shows_its_own_kind_of_error() {
    let web = Nginx::plain();
    let good = Microsocks::with_account("ann", "secret");
    let nobody = Port::reserve();
    let deaf = Deaf::start();
    let rude = [
        Manners::Hangs,
        Manners::Closes,
        Manners::Resets,
        Manners::Babbles,
    ]
    .map(Rude::start);
    let leaf = Authority::new("Unknown Authority").leaf(&["127.0.0.1"]);
    let over_tls = SingBox::start([Inbound::http().tls(&leaf)]);
    let plain_tls = json!({ "tls": { "enabled": true } });
    let outbounds = [
        good.outbound("good"),
        socks("dead", nobody.number()),
        socks("deaf", deaf.port()),
        socks("hangs", rude[0].port()),
        socks("closes", rude[1].port()),
        socks("resets", rude[2].port()),
        socks("babbles", rude[3].port()),
        with(good.outbound("locked"), json!({ "password": "guess" })),
        over_tls.outbound(0, "unknown authority"),
        with(http("no tls", web.port(0)), plain_tls),
        through(good.outbound("behind dead"), "dead"),
        through(socks("gone", nobody.number()), "good"),
    ];
    let options = json!({
        "urls": [web.url("/generate_204")], "ip_lookup": false, "url_test_timeout": TIMEOUT,
        "workers": 4,
    });
    let monitor = start(&outbounds, &options).await;
    let expected = [
        ("dead", DialRefused),
        ("deaf", DialTimeout),
        ("hangs", Timeout),
        ("closes", Eof),
        ("resets", Reset),
        ("babbles", ProxyHandshake),
        ("locked", ProxyAuth),
        ("unknown authority", TlsCert),
        ("no tls", TlsFail),
        ("behind dead", DialRefused),
        ("gone", DialRefused),
    ];
    for (tag, error) in expected {
        let report = tested(&monitor, tag).await;
        assert_eq!(kind(&report), Some(error), "{report:#?}");
        assert_eq!(report.state, State::Failed, "{report:#?}");
        assert_eq!((report.delay_ms, &report.ip), (None, &None), "{report:#?}");
    }
    assert_eq!(tested(&monitor, "good").await.state, State::Ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_every_bad_url_shows_its_own_kind_of_error() {
    let stranger = Authority::new("Unknown Authority").leaf(&["127.0.0.1"]);
    let web = Nginx::start(&[Site::Plain, Site::Tls(&stranger)]);
    let hangs = Rude::start(Manners::Hangs);
    let babbles = Rude::start(Manners::Babbles);
    let proxy = Microsocks::start();
    let plain = |port: u16| format!("http://127.0.0.1:{port}/generate_204");
    let expected = [
        (web.url("/error"), HttpStatus, "500"),
        (web.url("/login"), HttpStatus, "login.test"),
        (plain(hangs.port()), Timeout, ""),
        (plain(babbles.port()), HttpMalformed, ""),
        (
            format!("https://127.0.0.1:{}/generate_204", web.port(1)),
            TlsCert,
            "issuer",
        ),
        (
            format!("https://127.0.0.1:{}/generate_204", web.port(0)),
            TlsFail,
            "TLS",
        ),
    ];
    for (url, error, words) in expected {
        let options = json!({
            "urls": [url], "ip_lookup": false, "url_test_timeout": TIMEOUT,
        });
        let monitor = start(&[proxy.outbound("proxy")], &options).await;
        let report = tested(&monitor, "proxy").await;
        assert_eq!(kind(&report), Some(error), "{url}: {report:#?}");
        let text = report.error.map(|error| error.text).unwrap_or_default();
        assert!(text.contains(words), "{url}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t5_a_tired_test_host_is_an_answer() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let options = json!({
        "urls": [web.url("/tired")], "ip_lookup": false, "url_test_timeout": "30s",
    });
    let monitor = start(&[proxy.outbound("proxy")], &options).await;
    assert_eq!(tested(&monitor, "proxy").await.state, State::Ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn d6_an_outbound_that_the_core_cannot_dial_stops_no_other() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let odd: Value = json!({
        "type": "hysteria2", "tag": "odd", "server": "127.0.0.1", "server_port": 443,
        "password": "secret",
    });
    let options = json!({
        "urls": [web.url("/generate_204")], "ip_lookup": false, "url_test_timeout": "30s",
    });
    let monitor = start(&[odd, proxy.outbound("proxy")], &options).await;
    assert_eq!(tested(&monitor, "proxy").await.state, State::Ok);
    let report = shown(&monitor, "odd", |report| report.state == State::NotReady).await;
    let text = report.status_text.unwrap_or_default();
    assert!(text.contains("hysteria2"), "{text}");
}
