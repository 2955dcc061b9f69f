//! The world behaves as its documentation says, seen by a client that is not
//! Outwatch.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use outwatch_demo_world::{Behaviour, Exit, Proxy, TEST_HOST, World};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_socks::tcp::Socks5Stream;

struct Visit {
    _world: World,
    config: Value,
}

impl Visit {
    async fn to(proxy: Proxy) -> Self {
        let mut world = World::start().await.expect("loopback");
        world.add(proxy).await.expect("loopback");
        let config = serde_json::from_str(&world.config()).expect("the config is JSON");
        Self {
            _world: world,
            config,
        }
    }

    fn proxy(&self) -> SocketAddr {
        let outbound = &self.config["outbounds"][0];
        let ip = outbound["server"]
            .as_str()
            .and_then(|ip| ip.parse().ok())
            .expect("an address");
        let port = outbound["server_port"]
            .as_u64()
            .and_then(|port| port.try_into().ok());
        SocketAddr::new(ip, port.expect("a port"))
    }

    async fn dial(&self, host: &str, port: u16) -> tokio_socks::Result<Socks5Stream<TcpStream>> {
        Socks5Stream::connect(self.proxy(), (host, port)).await
    }

    fn ip_service(&self) -> SocketAddr {
        let url = self.config["experimental"]["monitoring"]["ipinfo_url"]
            .as_str()
            .expect("a URL");
        url["http://".len()..]
            .split('/')
            .next()
            .and_then(|a| a.parse().ok())
            .expect("an address")
    }

    async fn status_line<S>(&self, stream: S) -> io::Result<String>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let pem = self.config["certificate"]["certificate"][0]
            .as_str()
            .expect("a certificate");
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM"))
            .expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(TEST_HOST).expect("a name");
        let mut tls = TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await?;
        get(&mut tls, "/generate_204")
            .await
            .map(|answer| first_line(&answer))
    }
}

async fn get<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, path: &str) -> io::Result<String> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn first_line(answer: &str) -> String {
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_test_site_answers_204_under_the_worlds_own_authority() {
    let visit = Visit::to(Proxy::socks("fast")).await;
    let stream = visit
        .dial(TEST_HOST, 443)
        .await
        .expect("the proxy leads there");
    let answer = visit.status_line(stream).await.expect("TLS and HTTP");
    assert_eq!(answer, "HTTP/1.1 204 No Content");
}

#[tokio::test]
async fn the_ip_service_sees_the_exit_of_the_proxy() {
    let exit = Exit::new("192.0.2.10", "DE", "Berlin", 64496, "Example Net");
    let visit = Visit::to(Proxy::socks("fast").exit(exit)).await;
    let service = visit.ip_service();
    let mut through = visit
        .dial(&service.ip().to_string(), service.port())
        .await
        .expect("a way");
    let seen = get(&mut through, "/json").await.expect("an answer");
    assert!(
        seen.contains("192.0.2.10") && seen.contains("Berlin"),
        "{seen}"
    );

    let mut direct = TcpStream::connect(service).await.expect("loopback");
    let seen = get(&mut direct, "/json").await.expect("an answer");
    assert!(seen.ends_with(r#"{"ip":"127.0.0.1"}"#), "{seen}");
}

#[tokio::test]
async fn nothing_outside_the_world_can_be_reached() {
    let visit = Visit::to(Proxy::socks("fast")).await;
    for (host, port) in [("www.example.com", 443), ("127.0.0.1", 1)] {
        let refused = visit.dial(host, port).await;
        assert!(
            matches!(refused, Err(tokio_socks::Error::HostUnreachable)),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_flaky_proxy_drops_every_second_connection_to_the_test_site() {
    let visit = Visit::to(Proxy::socks("flaky").behaves(Behaviour::Flaky)).await;
    let mut opened = Vec::new();
    for _ in 0..4 {
        opened.push(visit.dial(TEST_HOST, 443).await.is_ok());
    }
    assert_eq!(opened, [true, false, true, false]);
}

#[tokio::test]
async fn a_dead_proxy_refuses_and_a_hanging_one_never_says_a_word() {
    let dead = Visit::to(Proxy::socks("dead").behaves(Behaviour::Dead)).await;
    let refused = TcpStream::connect(dead.proxy())
        .await
        .expect_err("nobody listens");
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);

    let hanging = Visit::to(Proxy::socks("hanging").behaves(Behaviour::Hanging)).await;
    let mut stream = TcpStream::connect(hanging.proxy())
        .await
        .expect("it accepts");
    stream.write_all(&[5, 1, 0]).await.expect("it reads");
    stream.shutdown().await.expect("loopback");
    let mut said = Vec::new();
    stream
        .read_to_end(&mut said)
        .await
        .expect("it closes when the client does");
    assert_eq!(said, b"");
}

#[tokio::test]
async fn a_proxy_with_an_account_wants_its_password() {
    let proxy = Proxy::http("closed")
        .account("ann", "secret")
        .wrong_password();
    let visit = Visit::to(proxy).await;
    assert_eq!(visit.config["outbounds"][0]["password"], "not secret");
    let connect = |credentials: &str| {
        format!(
            "CONNECT {TEST_HOST}:443 HTTP/1.1\r\nproxy-authorization: Basic {credentials}\r\n\r\n"
        )
    };
    // `ann:secret` and `ann:not secret`.
    for (credentials, status) in [("YW5uOnNlY3JldA==", "200"), ("YW5uOm5vdCBzZWNyZXQ=", "407")] {
        let mut stream = TcpStream::connect(visit.proxy()).await.expect("loopback");
        stream
            .write_all(connect(credentials).as_bytes())
            .await
            .expect("loopback");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer[9..], status.as_bytes());
    }
}

#[tokio::test]
async fn an_intercepting_proxy_shows_a_certificate_of_nobodys() {
    let visit = Visit::to(Proxy::socks("intercepted").behaves(Behaviour::Intercepting)).await;
    let stream = visit
        .dial(TEST_HOST, 443)
        .await
        .expect("the proxy leads somewhere");
    let error = visit.status_line(stream).await.expect_err("TLS fails");
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[tokio::test]
async fn the_demos_world_is_a_config_with_a_tag_for_every_manner() {
    let world = World::demo().await.expect("loopback");
    let config: Value = serde_json::from_str(&world.config()).expect("JSON");
    let outbounds = config["outbounds"].as_array().expect("a list");
    let tags: Vec<&str> = outbounds.iter().filter_map(|o| o["tag"].as_str()).collect();
    let manners = [
        "fast",
        "slow",
        "office",
        "behind fast",
        "flaky",
        "dead",
        "hanging",
    ];
    assert!(manners.iter().all(|tag| tags.contains(tag)), "{tags:?}");
    drop(world);
}
