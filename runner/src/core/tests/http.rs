//! HTTP proxies: what CONNECT says, what the answers mean, and TLS with the proxy.

use std::sync::Arc;

use rustls::ServerConfig;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::time::Instant;

use super::servers::{Server, closed_port};
use super::{SHORT, core, dial, echoes, failure, target};
use crate::proxy_core::{Cause, Phase, ProxyCore};
use crate::testing::{Authority, self_signed};

#[tokio::test]
async fn connect_carries_name_credentials_and_headers() {
    let (echo, proxy) = (
        Server::echo().await,
        Server::http("HTTP/1.1 200 OK\r\n\r\n").await,
    );
    let core = core(
        json!([{ "type": "http", "server": "127.0.0.1", "server_port": proxy.port(),
        "username": "me", "password": "p:s", "headers": { "X-One": "1", "X-Two": ["2", "3"] } }]),
    );
    assert!(echoes(&core, "0", &echo.named()).await);
    let port = echo.port();
    assert_eq!(
        proxy.asked(),
        [format!(
            "CONNECT web.test:{port} HTTP/1.1\r\nProxy-Authorization: Basic bWU6cDpz\r\n\
             X-One: 1\r\nX-Two: 2\r\nX-Two: 3\r\nHost: web.test:{port}\r\n\r\n"
        )]
    );
}

#[tokio::test]
async fn a_path_takes_the_place_of_the_target() {
    let (echo, proxy) = (
        Server::echo().await,
        Server::http("HTTP/1.1 200 OK\r\n\r\n").await,
    );
    let core = core(
        json!([{ "type": "http", "server": "127.0.0.1", "server_port": proxy.port(),
        "path": "/secret" }]),
    );
    assert!(echoes(&core, "0", &echo.target()).await);
    let head = format!("CONNECT /secret HTTP/1.1\r\nHost: {}\r\n\r\n", echo.address);
    assert_eq!(proxy.asked(), [head]);
}

#[tokio::test]
async fn old_proxies_and_odd_agreements_are_understood() {
    let echo = Server::echo().await;
    for answer in [
        "HTTP/1.0 200 Connection established\r\nProxy-agent: tinyproxy/1.11\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 201 \r\n\r\n",
    ] {
        let proxy = Server::http(answer).await;
        let core =
            core(json!([{ "type": "http", "server": "127.0.0.1", "server_port": proxy.port() }]));
        assert!(echoes(&core, "0", &echo.named()).await, "{answer}");
    }
}

#[tokio::test]
async fn bytes_that_come_with_the_agreement_belong_to_the_stream() {
    let proxy = Server::answering("HTTP/1.1 200 OK\r\n\r\nbanner").await;
    let core =
        core(json!([{ "type": "http", "server": "127.0.0.1", "server_port": proxy.port() }]));
    let mut stream = dial(&core, "0", &target("web.test:22"))
        .await
        .unwrap()
        .stream;
    let mut banner = String::new();
    stream.read_to_string(&mut banner).await.unwrap();
    assert_eq!(banner, "banner");
}

#[tokio::test]
async fn t10_the_answers_of_a_proxy_are_told_apart() {
    for (answer, cause, says) in [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n\r\nnope",
            Cause::ProxyAuth,
            "407",
        ),
        (
            "HTTP/1.1 502 Bad Gateway\r\n\r\n",
            Cause::ProxyHandshake,
            "502",
        ),
        (
            "HTTP/1.1 504 Gateway Timeout\r\n\r\n",
            Cause::ProxyHandshake,
            "504",
        ),
        (
            "HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n",
            Cause::ProxyHandshake,
            "302",
        ),
        (
            "SSH-2.0-OpenSSH_9.2\r\n",
            Cause::ProxyHandshake,
            "HTTP proxy",
        ),
        ("\x05\x00", Cause::ProxyHandshake, "HTTP proxy"),
        ("", Cause::Eof, "closed"),
        ("HTTP/1.1 200 O", Cause::Eof, "closed"),
    ] {
        let proxy = Server::answering(answer).await;
        let core =
            core(json!([{ "type": "http", "server": "127.0.0.1", "server_port": proxy.port() }]));
        let failure = failure(&core, "0", &target("web.test:80"), says).await;
        assert_eq!(failure, (Phase::Proxy, cause), "{answer}");
    }
}

#[tokio::test]
async fn t10_a_proxy_that_is_away_resets_or_hangs_is_told_apart() {
    let (resetting, silent) = (Server::resetting().await, Server::silent().await);
    let server = |port: u16| json!({ "type": "http", "server": "127.0.0.1", "server_port": port });
    let core = core(json!([
        server(closed_port().await),
        server(resetting.port()),
        server(silent.port())
    ]));
    let web = target("web.test:80");
    assert_eq!(
        failure(&core, "0", &web, "127.0.0.1").await,
        (Phase::Dial, Cause::Refused)
    );
    assert_eq!(
        failure(&core, "1", &web, "HTTP proxy").await,
        (Phase::Proxy, Cause::Reset)
    );
    let error = core
        .dial("2", &web, Instant::now() + SHORT)
        .await
        .unwrap_err();
    assert_eq!((error.phase, error.cause), (Phase::Proxy, Cause::Timeout));
}

#[tokio::test]
async fn tls_with_the_proxy_follows_the_tls_object() {
    let authority = Authority::new("known");
    let (own, own_pem) = self_signed("proxy.test");
    let echo = Server::echo().await;
    let signed = Server::https(authority.server("proxy.test")).await;
    let by_ip = Server::https(authority.server("127.0.0.1")).await;
    let alone = Server::https(own).await;
    let mut folder = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut folder, authority.pem().as_bytes()).unwrap();
    let lines: Vec<&str> = authority.pem().lines().collect();
    let server = |proxy: &Server, tls: serde_json::Value| json!({ "type": "http", "server": "127.0.0.1", "server_port": proxy.port(), "tls": tls });
    let name = "proxy.test";
    let core = core(json!([
        server(
            &signed,
            json!({ "enabled": true, "server_name": name, "certificate": lines })
        ),
        server(
            &signed,
            json!({ "enabled": true, "server_name": name,
            "certificate_path": folder.path(), "disable_sni": true, "min_version": "1.3" })
        ),
        server(
            &signed,
            json!({ "enabled": true, "insecure": true, "max_version": "1.2" })
        ),
        server(
            &by_ip,
            json!({ "enabled": true, "certificate": authority.pem() })
        ),
        server(
            &alone,
            json!({ "enabled": true, "server_name": name, "certificate": own_pem })
        ),
    ]));
    for index in 0..5 {
        assert!(
            echoes(&core, &index.to_string(), &echo.named()).await,
            "outbound {index}"
        );
    }
}

#[tokio::test]
async fn t10_tls_with_the_proxy_fails_in_phase_proxy() {
    let (known, stranger) = (Authority::new("known"), Authority::new("stranger"));
    let mut only_h2 = ServerConfig::clone(&known.server("proxy.test"));
    only_h2.alpn_protocols = vec![b"h2".to_vec()];
    let proxies = [
        (
            Server::https(stranger.server("proxy.test")).await,
            Cause::TlsCertificate,
            "unknown",
        ),
        (
            Server::https(known.server("other.test")).await,
            Cause::TlsCertificate,
            "another name",
        ),
        (
            Server::https(known.expired_server("proxy.test")).await,
            Cause::TlsCertificate,
            "expired",
        ),
        (
            Server::https(Arc::new(only_h2)).await,
            Cause::TlsFailed,
            "alert",
        ),
        (
            Server::answering("HTTP/1.1 400 No TLS\r\n\r\n").await,
            Cause::TlsFailed,
            "TLS",
        ),
        (Server::answering("").await, Cause::Eof, "closed"),
    ];
    for (proxy, cause, says) in proxies {
        let core = core(json!([{ "type": "http", "server": "127.0.0.1",
            "server_port": proxy.port(), "tls": { "enabled": true, "server_name": "proxy.test",
            "certificate": known.pem(), "alpn": "http/1.1" } }]));
        let failure = failure(&core, "0", &target("web.test:80"), says).await;
        assert_eq!(failure, (Phase::Proxy, cause), "{says}");
    }
}
