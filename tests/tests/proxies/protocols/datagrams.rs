//! Datagrams through every protocol and transport of a real sing-box.

use outwatch::{Cause, Host, Phase, Target};
use outwatch_tests::peers::{
    EXITS, Inbound, Port, SingBox, UdpEcho, http, outbound, through, with,
};
use serde_json::json;

use super::super::datagrams::{
    associate, echoes, failure, hears_nothing, here, lists_udp, try_associate,
};
use super::super::world::{assert_failed, core};
use super::all::{All, EXIT, KEY, PASSWORD, UUID};

/// Longer than any that a network carries in one piece.
fn long() -> Vec<u8> {
    (0..8_000_u32).map(|nth| (nth % 251) as u8).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn datagrams_reach_many_targets_through_every_protocol_and_come_back() {
    let (one, other) = (UdpEcho::start(), UdpEcho::start());
    let all = All::start();
    let core = all.core();
    let by_name = Target {
        host: Host::Name(SingBox::SECRET_NAME.to_owned()),
        port: other.port(),
        family: None,
    };
    for tag in all.tags() {
        assert!(lists_udp(&core, tag), "{tag}");
        let way = associate(&core, tag).await;
        echoes(&*way, &one, &here(one.port()), tag.as_bytes()).await;
        let exit = one.last_visitor().map(|ip| ip.to_string());
        assert_eq!(exit.as_deref(), Some(EXITS[EXIT].address), "{tag}");
        echoes(&*way, &other, &here(other.port()), &long()).await;
        echoes(&*way, &one, &here(one.port()), b"again").await;
        // It resolves names for ways whose first datagram goes to one.
        let way = associate(&core, tag).await;
        echoes(&*way, &other, &by_name, b"by name").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn datagrams_go_to_one_target_through_vless_without_an_encoding() {
    let (one, other) = (UdpEcho::start(), UdpEcho::start());
    let all = All::start();
    let plain = json!({ "packet_encoding": "" });
    let tags = ["vless", "vless ws", "vless early in path tls"];
    let core = all.core_of(tags.map(|tag| all.changed(tag, plain.clone())));
    for tag in tags {
        let way = associate(&core, tag).await;
        echoes(&*way, &one, &here(one.port()), &long()).await;
        echoes(&*way, &one, &here(one.port()), b"again").await;
        let error = way.send(b"lost", &here(other.port())).await;
        assert_failed(
            &error.expect_err("an error"),
            Phase::Proxy,
            Cause::Unsupported,
            "one target",
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn datagrams_go_through_socks_5_with_and_without_a_password() {
    let echo = UdpEcho::start();
    let sing = SingBox::start([
        Inbound::socks(),
        Inbound::socks().account("ann", "secret"),
        Inbound::mixed().account("ann", "secret"),
    ]);
    let core = core([
        sing.outbound(0, "open"),
        sing.outbound(1, "closed"),
        with(sing.outbound(2, "named"), json!({ "server": "localhost" })),
        with(sing.outbound(1, "guess"), json!({ "password": "guess" })),
        with(sing.outbound(0, "older"), json!({ "version": "4a" })),
        with(sing.outbound(0, "streams"), json!({ "network": "tcp" })),
    ]);
    for tag in ["open", "closed", "named"] {
        let way = associate(&core, tag).await;
        echoes(&*way, &echo, &here(echo.port()), &long()).await;
    }
    let error = try_associate(&core, "guess").await.err().expect("an error");
    assert_failed(&error, Phase::Proxy, Cause::ProxyAuth, "`guess`");
    for tag in ["older", "streams"] {
        assert!(!lists_udp(&core, tag), "{tag}");
        let error = try_associate(&core, tag).await.err().expect("an error");
        assert_failed(&error, Phase::Dial, Cause::Unsupported, tag);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_datagrams_go_through_detours_of_every_kind() {
    let echo = UdpEcho::start();
    let all = All::start();
    let server = SingBox::start([Inbound::socks(), Inbound::http()]);
    let direct = json!({ "type": "direct", "tag": "direct" });
    let kinds = [
        "aes-256-gcm",
        "2022-blake3-aes-128-gcm",
        "trojan tls",
        "vless ws",
        "socks",
    ];
    let of = |kind: &str| match kind {
        "socks" => server.outbound(0, "socks"),
        kind => all.outbound(kind),
    };
    let mut outbounds = vec![direct, server.outbound(1, "http")];
    outbounds.extend(kinds.map(of));
    let mut chains = Vec::new();
    for far in kinds {
        for near in kinds {
            let tag = format!("{far} through {near}");
            outbounds.push(with(through(of(far), near), json!({ "tag": tag })));
            chains.push(tag);
        }
    }
    for (tag, detour) in [("straight", "vless ws"), ("by choice", "choice")] {
        outbounds.push(json!({ "type": "direct", "tag": tag, "detour": detour }));
        chains.push(tag.to_owned());
    }
    outbounds.push(json!({ "type": "balancer", "tag": "choice", "outbounds": ["http", "socks"] }));
    for (tag, kind) in [("stream", "trojan tls"), ("packets", "aes-256-gcm")] {
        outbounds.push(with(through(of(kind), "http"), json!({ "tag": tag })));
    }
    let core = all.core_of(outbounds);
    for tag in &chains {
        let way = associate(&core, tag).await;
        echoes(&*way, &echo, &here(echo.port()), tag.as_bytes()).await;
    }
    // A stream is all that HTTP carries.
    let way = associate(&core, "stream").await;
    echoes(&*way, &echo, &here(echo.port()), b"in a stream").await;
    for tag in ["packets", "http"] {
        assert!(!lists_udp(&core, tag), "{tag}");
        let error = try_associate(&core, tag).await.err().expect("an error");
        assert_failed(&error, Phase::Dial, Cause::Unsupported, tag);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_secret_ends_datagrams_in_a_stream_and_leaves_others_unanswered() {
    let echo = UdpEcho::start();
    let all = All::start();
    let wrong = json!({
        "password": "ISEhISEhISEhISEhISEhIQ==", "uuid": "99999999-4b5a-4697-8877-665544332211",
    });
    let changed = |tag: &str, field: &str| all.changed(tag, json!({ field: wrong[field] }));
    let core = all.core_of([
        changed("trojan", "password"),
        changed("trojan ws tls", "password"),
        changed("vless", "uuid"),
        changed("vless early in header tls", "uuid"),
        changed("aes-128-gcm", "password"),
        changed("2022-blake3-aes-128-gcm", "password"),
    ]);
    for (tag, words) in [
        ("trojan", "another password"),
        ("trojan ws tls", "another password"),
        ("vless", "another uuid"),
        ("vless early in header tls", "another uuid"),
    ] {
        let way = associate(&core, tag).await;
        let error = failure(&*way, &here(echo.port())).await;
        assert!(
            [Cause::Eof, Cause::Reset].contains(&error.cause),
            "{tag}: {error:?}"
        );
        assert!(error.text.contains(words), "{tag}: {error:?}");
    }
    for tag in ["aes-128-gcm", "2022-blake3-aes-128-gcm"] {
        hears_nothing(&*associate(&core, tag).await, &here(echo.port())).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_server_that_is_not_there_is_dial_refused_for_datagrams_too() {
    let nobody = Port::reserve();
    let at = |type_name: &str| outbound(type_name, type_name, nobody.number());
    let key = json!({ "method": "2022-blake3-aes-128-gcm", "password": KEY });
    let core = core([
        at("socks"),
        with(at("trojan"), json!({ "password": PASSWORD })),
        with(at("vless"), json!({ "uuid": UUID })),
        with(at("shadowsocks"), key),
        http("http", nobody.number()),
    ]);
    for tag in ["socks", "trojan", "vless"] {
        let error = try_associate(&core, tag).await.err().expect("an error");
        assert_failed(&error, Phase::Dial, Cause::Refused, "127.0.0.1");
    }
    // Nobody can know before something was sent.
    let way = associate(&core, "shadowsocks").await;
    let error = failure(&*way, &here(9)).await;
    assert_failed(&error, Phase::Dial, Cause::Refused, "127.0.0.1");
}
