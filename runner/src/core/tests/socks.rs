//! SOCKS 4, 4a and 5: what the proxy is asked, and what its answers mean.

use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::time::Instant;

use super::servers::{Server, closed_port};
use super::{Names, SHORT, core, dial, echoes, failure, target};
use crate::proxy_core::{Cause, Family, Phase, ProxyCore};

#[tokio::test]
async fn socks5_passes_names_and_addresses_on_as_they_are() {
    let (echo, proxy) = (Server::echo().await, Server::socks5(None).await);
    let core =
        core(json!([{ "type": "socks", "server": "127.0.0.1", "server_port": proxy.port() }]));
    let port = echo.port();
    let wanted = [
        format!("web.test:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
    ];
    for text in &wanted {
        assert!(echoes(&core, "0", &target(text)).await);
    }
    assert_eq!(proxy.asked(), wanted);
}

#[tokio::test]
async fn socks5_takes_the_right_password_and_no_other() {
    let (echo, proxy) = (
        Server::echo().await,
        Server::socks5(Some(("me", "secret"))).await,
    );
    let server = |username: &str, password: &str| {
        json!({ "type": "socks", "server": "127.0.0.1", "server_port": proxy.port(),
            "username": username, "password": password })
    };
    let core = core(json!([
        server("me", "secret"),
        server("me", "wrong"),
        server("", "")
    ]));
    assert!(echoes(&core, "0", &echo.named()).await);
    for tag in ["1", "2"] {
        let failure = failure(&core, tag, &echo.named(), &proxy.address.to_string()).await;
        assert_eq!(failure, (Phase::Proxy, Cause::ProxyAuth));
    }
    assert_eq!(proxy.asked().len(), 1);
}

#[tokio::test]
async fn what_a_target_says_right_behind_the_answer_of_the_proxy_is_not_lost() {
    for (version, answer) in [
        ("5", &b"\x05\0\x05\0\0\x01\0\0\0\0\0\0"[..]),
        ("4", b"\0\x5a\0\0\0\0\0\0"),
    ] {
        let proxy = Server::answering([answer, b"220 hello"].concat()).await;
        let core = core(json!([{ "type": "socks", "version": version,
            "server": "127.0.0.1", "server_port": proxy.port() }]));
        let mut stream = dial(&core, "0", &target("127.0.0.1:25"))
            .await
            .unwrap()
            .stream;
        let mut said = [0; 9];
        stream.read_exact(&mut said).await.unwrap();
        assert_eq!(&said, b"220 hello");
    }
}

#[tokio::test]
async fn t10_socks5_answers_are_told_apart() {
    let hello = b"\x05\0";
    for (answer, cause) in [
        (&b"\x05\x01\0\x01\0\0\0\0\0\0"[..], Cause::ProxyHandshake),
        (b"\x05\x02\0\x01\0\0\0\0\0\0", Cause::ProxyHandshake),
        (b"\x05\x03\0\x01\0\0\0\0\0\0", Cause::NoRoute),
        (b"\x05\x04\0\x01\0\0\0\0\0\0", Cause::NoRoute),
        (b"\x05\x05\0\x01\0\0\0\0\0\0", Cause::Refused),
        (b"\x05\x06\0\x01\0\0\0\0\0\0", Cause::DialTimeout),
        (b"\x05\x07\0\x01\0\0\0\0\0\0", Cause::ProxyHandshake),
        (b"\x05\x63\0\x01\0\0\0\0\0\0", Cause::ProxyHandshake),
        (b"HTTP/1.1 400 Bad Request\r\n", Cause::ProxyHandshake),
        (b"\x05", Cause::Eof),
    ] {
        let proxy = Server::answering([hello, answer].concat()).await;
        let core =
            core(json!([{ "type": "socks", "server": "127.0.0.1", "server_port": proxy.port() }]));
        let peer = proxy.address.to_string();
        let failure = failure(&core, "0", &target("web.test:80"), &peer).await;
        assert_eq!(failure, (Phase::Proxy, cause), "{answer:?}");
    }
}

#[tokio::test]
async fn t10_what_does_not_speak_socks_is_proxy_handshake() {
    for version in ["4", "4a", "5"] {
        let proxy = Server::answering("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let core = core(json!([{ "type": "socks", "version": version,
            "server": "127.0.0.1", "server_port": proxy.port() }]));
        let failure = failure(&core, "0", &target("127.0.0.1:80"), "SOCKS proxy").await;
        assert_eq!(failure, (Phase::Proxy, Cause::ProxyHandshake));
    }
}

#[tokio::test]
async fn t10_a_proxy_that_is_away_closes_resets_or_hangs_is_told_apart() {
    let (closing, resetting) = (Server::answering("").await, Server::resetting().await);
    let silent = Server::silent().await;
    let server = |port: u16| json!({ "type": "socks", "server": "127.0.0.1", "server_port": port });
    let core = core(json!([
        server(closed_port().await),
        server(closing.port()),
        server(resetting.port()),
        server(silent.port())
    ]));
    let web = target("web.test:80");
    assert_eq!(
        failure(&core, "0", &web, "127.0.0.1").await,
        (Phase::Dial, Cause::Refused)
    );
    assert_eq!(
        failure(&core, "1", &web, "SOCKS proxy").await,
        (Phase::Proxy, Cause::Eof)
    );
    assert_eq!(
        failure(&core, "2", &web, "SOCKS proxy").await,
        (Phase::Proxy, Cause::Reset)
    );
    let deadline = Instant::now() + SHORT;
    let error = core.dial("3", &web, deadline).await.unwrap_err();
    assert_eq!((error.phase, error.cause), (Phase::Proxy, Cause::Timeout));
    assert!(deadline.elapsed() < SHORT, "the deadline bounds the dial");
}

#[tokio::test]
async fn socks4_resolves_here_and_socks4a_there() {
    let (echo, proxy) = (Server::echo().await, Server::socks4().await);
    let server = |version: &str, username: &str| {
        json!({ "type": "socks", "version": version, "username": username,
            "server": "127.0.0.1", "server_port": proxy.port() })
    };
    let mut core = core(json!([server("4", "me"), server("4a", "")]));
    core.resolver = Names::new([("web.test", &["::1", "127.0.0.1"])]);
    assert!(echoes(&core, "0", &echo.named()).await);
    assert!(echoes(&core, "1", &echo.named()).await);
    let asked = [
        "me".into(),
        format!("127.0.0.1:{}", echo.port()),
        String::new(),
        format!("web.test:{}", echo.port()),
    ];
    assert_eq!(proxy.asked(), asked);
    let ipv6 = failure(&core, "0", &target("[::1]:80"), "[::1]:80").await;
    assert_eq!(ipv6, (Phase::Proxy, Cause::Unsupported));
}

#[tokio::test]
async fn t10_socks4_answers_are_told_apart() {
    for (code, cause) in [
        (0x5b, Cause::ProxyHandshake),
        (0x5c, Cause::ProxyAuth),
        (0x5d, Cause::ProxyAuth),
        (0x63, Cause::ProxyHandshake),
    ] {
        let proxy = Server::answering([0, code, 0, 0, 0, 0, 0, 0]).await;
        let core = core(json!([{ "type": "socks", "version": "4a",
            "server": "127.0.0.1", "server_port": proxy.port() }]));
        let failure = failure(&core, "0", &target("web.test:80"), "SOCKS proxy").await;
        assert_eq!(failure, (Phase::Proxy, cause), "{code:#x}");
    }
}

#[tokio::test]
async fn v2_a_family_is_resolved_here_since_no_proxy_can_be_asked_for_one() {
    let (echo, proxy) = (Server::echo().await, Server::socks5(None).await);
    let mut core =
        core(json!([{ "type": "socks", "server": "127.0.0.1", "server_port": proxy.port() }]));
    core.resolver = Names::new([
        ("web.test", &["127.0.0.1", "::1"]),
        ("old.test", &["127.0.0.1"]),
    ]);
    let mut wanted = echo.named();
    wanted.family = Some(Family::V6);
    let dialed = dial(&core, "0", &wanted).await.unwrap();
    assert!(dialed.dns.is_some());
    assert_eq!(proxy.asked(), [format!("[::1]:{}", echo.port())]);

    let old = crate::Target {
        family: Some(Family::V6),
        ..target("old.test:80")
    };
    assert_eq!(
        failure(&core, "0", &old, "IPv6").await,
        (Phase::Dial, Cause::DnsFailed)
    );
}

#[tokio::test]
async fn names_too_long_for_socks_are_unsupported_and_no_panic() {
    let long = target(&format!("{}:80", "a".repeat(300)));
    let core = core(json!([
        { "type": "socks", "server": "127.0.0.1", "server_port": 1 },
        { "type": "socks", "version": "4a", "username": "u".repeat(255),
            "server": "127.0.0.1", "server_port": 1 },
    ]));
    for (tag, to) in [
        ("0", &long),
        ("1", &long),
        ("1", &target(&format!("{}:1", "a".repeat(250)))),
    ] {
        let failure = failure(&core, tag, to, "too long").await;
        assert_eq!(failure, (Phase::Proxy, Cause::Unsupported));
    }
}
