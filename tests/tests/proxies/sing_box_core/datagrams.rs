//! Datagrams through a real sing-box beside the core.

use outwatch::{Cause, Network, Phase, ProxyCore as _};
use outwatch_tests::peers::{
    Authority, Port, Protocols, UdpEcho, http, outbound, socks, through, with,
};
use serde_json::json;

use super::world::{core, core_of};
use crate::proxies::datagrams::{
    associate, echoes, failure, hears_nothing, here, lists_udp, try_associate,
};
use crate::proxies::world::assert_failed;

/// The types that carry datagrams.
fn types() -> impl Iterator<Item = &'static str> {
    Protocols::TYPES.into_iter().filter(|name| *name != "http")
}

#[tokio::test(flavor = "multi_thread")]
async fn datagrams_reach_many_targets_through_every_protocol_that_sing_box_carries_them_by() {
    let (one, other) = (UdpEcho::start(), UdpEcho::start());
    let authority = Authority::new("Protocol Authority");
    let servers = Protocols::start(&authority.leaf(&["127.0.0.1"]));
    let encoded = json!({ "tag": "vmess xudp", "packet_encoding": "xudp" });
    let encoded = with(servers.outbound("vmess"), encoded);
    let outbounds = Protocols::TYPES.map(|name| servers.outbound(name));
    let outbounds = outbounds.into_iter().chain([encoded]);
    let core = core_of(&json!({
        "outbounds": Vec::from_iter(outbounds),
        "certificate": { "certificate": authority.pem() },
    }))
    .await;
    for tag in types() {
        assert!(lists_udp(&core, tag), "{tag}");
        let way = associate(&core, tag).await;
        echoes(&*way, &one, &here(one.port()), tag.as_bytes()).await;
        // VMess as it is knows one target.
        if tag == "vmess" {
            let lost = way.send(b"another", &here(other.port())).await;
            let error = lost.expect_err("an error");
            assert_failed(&error, Phase::Proxy, Cause::Unsupported, "packet_encoding");
            continue;
        }
        echoes(&*way, &other, &here(other.port()), b"another").await;
    }
    let way = associate(&core, "vmess xudp").await;
    for echo in [&one, &other] {
        echoes(&*way, echo, &here(echo.port()), b"with an encoding").await;
    }
    assert!(!lists_udp(&core, "http"));
    let error = try_associate(&core, "http").await.err().expect("an error");
    assert_failed(&error, Phase::Dial, Cause::Unsupported, "`http`");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_what_sing_box_says_of_failed_datagrams_gives_kind_and_text() {
    let nobody = Port::reserve();
    let at = |type_name: &str| outbound(type_name, type_name, nobody.number());
    let core = core([
        socks("dead", nobody.number()),
        with(at("trojan"), json!({ "password": "open-sesame" })),
        json!({ "type": "block", "tag": "block" }),
        with(
            socks("nowhere", 1080),
            json!({ "server": "no-such-name.invalid" }),
        ),
    ])
    .await;
    for (tag, cause, words) in [
        ("dead", Cause::Refused, "connection refused"),
        ("trojan", Cause::Refused, "connection refused"),
        ("nowhere", Cause::DnsFailed, "no-such-name.invalid"),
    ] {
        let error = failure(&*associate(&core, tag).await, &here(9)).await;
        assert_failed(&error, Phase::Dial, cause, words);
        assert!(error.text.contains(&format!("`{tag}`")), "{error:?}");
    }
    assert!(!lists_udp(&core, "block"));
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_secret_carries_no_datagrams_and_is_never_told() {
    let echo = UdpEcho::start();
    let authority = Authority::new("Protocol Authority");
    let servers = Protocols::start(&authority.leaf(&["127.0.0.1"]));
    let core = core_of(&json!({
        "outbounds": Protocols::TYPES.map(|name| servers.stranger(name)),
        "certificate": { "certificate": authority.pem() },
    }))
    .await;
    for (tag, words) in [
        ("hysteria2", "authentication failed"),
        ("socks", "incorrect user name or password"),
    ] {
        let error = failure(&*associate(&core, tag).await, &here(echo.port())).await;
        assert_failed(&error, Phase::Proxy, Cause::ProxyAuth, words);
        assert!(!error.text.contains("guess"), "{error:?}");
    }
    hears_nothing(&*associate(&core, "shadowsocks").await, &here(echo.port())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_datagrams_follow_a_detour_and_the_choice_of_a_group() {
    let echo = UdpEcho::start();
    let authority = Authority::new("Protocol Authority");
    let servers = Protocols::start(&authority.leaf(&["127.0.0.1"]));
    let nobody = Port::reserve();
    let core = core_of(&json!({
        "outbounds": [
            servers.outbound("shadowsocks"),
            http("http", nobody.number()),
            servers.outbound("vmess"),
            { "type": "selector", "tag": "choice", "outbounds": ["http", "vmess"] },
            with(through(servers.outbound("shadowsocks"), "choice"), json!({ "tag": "behind" })),
            with(through(servers.outbound("shadowsocks"), "http"), json!({ "tag": "cut off" })),
        ],
    }))
    .await;
    assert!(lists_udp(&core, "choice") && lists_udp(&core, "behind"));
    assert!(!lists_udp(&core, "cut off"));
    let error = try_associate(&core, "behind")
        .await
        .err()
        .expect("an error");
    assert_failed(&error, Phase::Dial, Cause::Unsupported, "`behind`");
    for network in [Network::Tcp, Network::Udp] {
        core.select("choice", network, "vmess").unwrap();
    }
    for tag in ["choice", "behind"] {
        let way = associate(&core, tag).await;
        echoes(&*way, &echo, &here(echo.port()), tag.as_bytes()).await;
    }
}
