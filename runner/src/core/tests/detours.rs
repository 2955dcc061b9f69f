//! Outbounds through outbounds and groups, and whole fetches through them.

use std::sync::Arc;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use super::servers::{Server, closed_port};
use super::{core, echoes, entry, failure, target};
use crate::NativeCore;
use crate::proxy_core::{Cause, Network, Phase, ProxyCore, Readiness, SelectError};
use crate::testing::{Authority, get, read_head};

#[tokio::test]
async fn a_chain_of_three_detours_through_a_group_reaches_the_target() {
    let echo = Server::echo().await;
    let first = Server::socks5(None).await;
    let second = Server::http("HTTP/1.1 200 OK\r\n\r\n").await;
    let third = Server::socks5(Some(("me", "secret"))).await;
    let core = core(json!([
        { "type": "socks", "tag": "third", "server": "third.test", "server_port": third.port(),
            "username": "me", "password": "secret", "detour": "group" },
        { "type": "selector", "tag": "group", "outbounds": ["dead", "second"], "default": "second" },
        { "type": "socks", "tag": "dead", "server": "127.0.0.1", "server_port": 1 },
        { "type": "http", "tag": "second", "server": "second.test", "server_port": second.port(),
            "detour": "first" },
        { "type": "socks", "tag": "first", "server": "127.0.0.1", "server_port": first.port(),
            "detour": "out" },
        { "type": "direct", "tag": "out" },
    ]));
    assert!(echoes(&core, "third", &echo.named()).await);
    assert_eq!(first.asked(), [format!("second.test:{}", second.port())]);
    assert!(second.asked()[0].starts_with(&format!("CONNECT third.test:{} ", third.port())));
    assert_eq!(third.asked(), [format!("web.test:{}", echo.port())]);
    assert!(!core.list()[0].exit_follows_host);
}

#[tokio::test]
async fn a_failure_on_the_way_is_told_of_the_one_that_failed() {
    let guarded = Server::socks5(Some(("me", "secret"))).await;
    let open = Server::socks5(None).await;
    let core = core(json!([
        { "type": "socks", "tag": "a", "server": "a.test", "server_port": 1, "detour": "guarded" },
        { "type": "socks", "tag": "guarded", "server": "127.0.0.1", "server_port": guarded.port() },
        { "type": "socks", "tag": "b", "server": "b.test", "server_port": 1, "detour": "away" },
        { "type": "socks", "tag": "away", "server": "127.0.0.1",
            "server_port": closed_port().await },
        { "type": "socks", "tag": "c", "server": "c.test", "server_port": closed_port().await,
            "detour": "open" },
        { "type": "socks", "tag": "open", "server": "127.0.0.1", "server_port": open.port() },
    ]));
    let web = target("web.test:80");
    let wants_password = failure(&core, "a", &web, "`guarded`").await;
    assert_eq!(wants_password, (Phase::Proxy, Cause::ProxyAuth));
    let away = failure(&core, "b", &web, "127.0.0.1").await;
    assert_eq!(away, (Phase::Dial, Cause::Refused));
    let closed = failure(&core, "c", &web, "`open`").await;
    assert_eq!(closed, (Phase::Proxy, Cause::Eof));
}

#[tokio::test]
async fn g1_a_group_leads_where_it_is_told() {
    let echo = Server::echo().await;
    let proxy = Server::socks5(None).await;
    let core = core(json!([
        { "type": "direct", "tag": "direct" },
        { "type": "socks", "tag": "proxy", "server": "127.0.0.1", "server_port": proxy.port() },
        { "type": "selector", "tag": "choice", "outbounds": ["direct", "proxy"] },
        { "type": "urltest", "tag": "fastest", "outbounds": ["choice", "proxy"] },
    ]));
    assert_eq!(
        core.selected("choice", Network::Tcp).as_deref(),
        Some("direct")
    );
    assert_eq!(core.selected("fastest", Network::Tcp), None);
    assert_eq!(core.selected("proxy", Network::Tcp), None);

    assert!(echoes(&core, "fastest", &echo.target()).await);
    assert_eq!(proxy.asked().len(), 0);
    core.select("choice", Network::Tcp, "proxy").unwrap();
    assert_eq!(
        core.selected("choice", Network::Tcp).as_deref(),
        Some("proxy")
    );
    assert!(echoes(&core, "fastest", &echo.target()).await);
    assert_eq!(proxy.asked().len(), 1);

    let unknown = SelectError::NoSuchGroup("proxy".into());
    assert_eq!(core.select("proxy", Network::Tcp, "direct"), Err(unknown));
    let stranger = SelectError::NotAMember {
        group: "choice".into(),
        member: "fastest".into(),
    };
    assert_eq!(
        core.select("choice", Network::Tcp, "fastest"),
        Err(stranger)
    );
    assert_eq!(
        core.selected("choice", Network::Tcp).as_deref(),
        Some("proxy")
    );
}

#[tokio::test]
async fn loops_and_missing_detours_end() {
    let core = core(json!([
        { "type": "socks", "tag": "a", "server": "a.test", "server_port": 1, "detour": "b" },
        { "type": "socks", "tag": "b", "server": "b.test", "server_port": 1, "detour": "a" },
        { "type": "direct", "tag": "c", "detour": "away" },
        { "type": "selector", "tag": "d", "outbounds": ["d"] },
        { "type": "selector", "tag": "e", "outbounds": [] },
    ]));
    let web = target("web.test:80");
    for (tag, says) in [
        ("a", "itself"),
        ("c", "`away`"),
        ("d", "no outbound"),
        ("e", "no outbound"),
    ] {
        let failure = failure(&core, tag, &web, says).await;
        assert_eq!(failure, (Phase::Dial, Cause::Unsupported), "{tag}");
        assert_eq!(core.status(tag), Readiness::Ready, "{tag}");
    }
}

#[tokio::test]
async fn d6_what_leads_through_an_unsupported_outbound_is_unsupported_too() {
    let core = core(json!([
        { "type": "direct", "tag": "behind", "detour": "group" },
        { "type": "selector", "tag": "group", "outbounds": ["vmess", "direct"] },
        { "type": "vmess", "tag": "vmess", "server": "a", "server_port": 1, "uuid": "x" },
        { "type": "direct", "tag": "direct" },
        { "type": "urltest", "tag": "auto", "outbounds": ["vmess", "direct"] },
    ]));
    let Readiness::Unsupported(text) = core.status("behind") else {
        panic!("not ready")
    };
    assert!(text.contains("`group`") && text.contains("vmess"), "{text}");
    let web = target("127.0.0.1:1");
    let refused = failure(&core, "behind", &web, "vmess").await;
    assert_eq!(refused, (Phase::Dial, Cause::Unsupported));
    // A group that has not chosen passes over what cannot be dialed.
    assert_eq!(
        failure(&core, "auto", &web, "127.0.0.1:1").await,
        (Phase::Dial, Cause::Refused)
    );
    core.select("group", Network::Tcp, "direct").unwrap();
    assert_eq!(core.status("behind"), Readiness::Ready);
}

#[tokio::test]
async fn a_fetch_through_a_chain_trusts_the_configs_certificate() {
    let authority = Authority::new("known");
    let config = authority.server("web.test");
    let web = Server::start(move |stream| {
        let acceptor = TlsAcceptor::from(Arc::clone(&config));
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            while read_head(&mut stream).await.starts_with("HEAD") {
                stream
                    .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
                    .await
                    .unwrap();
            }
        }
    })
    .await;
    let (near, far) = (
        Server::socks5(None).await,
        Server::https(authority.server("far")).await,
    );
    let entries = [
        entry(
            0,
            json!({ "type": "http", "server": "far", "server_port": far.port(),
            "tls": { "enabled": true }, "detour": "1" }),
        ),
        entry(
            1,
            json!({ "type": "socks", "server": "127.0.0.1", "server_port": near.port() }),
        ),
    ];
    let request = crate::Request {
        method: "HEAD".into(),
        repeat: true,
        ..get(&format!("https://web.test:{}/", web.port()))
    };
    let certificate = json!({ "store": "none", "certificate": authority.pem() });
    let (core, problems) = NativeCore::new(&entries, certificate.as_object());
    assert_eq!(problems, []);
    let response = core.fetch("0", &request).await.unwrap();
    assert_eq!(response.status, 204);
    assert!(response.timing.repeat.is_some() && response.timing.tls.is_some());

    let (core, _) = NativeCore::new(&entries, json!({ "store": "none" }).as_object());
    let error = core.fetch("0", &request).await.unwrap_err();
    assert_eq!(
        (error.phase, error.cause),
        (Phase::Proxy, Cause::TlsCertificate)
    );
}
