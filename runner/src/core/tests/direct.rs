//! Our own sockets: families, happy eyeballs, the resolver, deadlines, cancelling.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::servers::{Server, closed_port};
use super::{Names, SHORT, core, dial, echoes, failure, target};
use crate::proxy_core::{Cause, Family, Phase, ProxyCore, Target};
use crate::testing::PATIENCE;

#[tokio::test]
async fn direct_goes_straight_to_addresses_and_names() {
    let echo = Server::echo().await;
    let mut core = core(json!([{ "type": "direct" }]));
    core.resolver = Names::new([("web.test", &["127.0.0.1"])]);
    assert!(core.list()[0].exit_follows_host);
    assert!(echoes(&core, "0", &echo.target()).await);
    assert!(echoes(&core, "0", &echo.named()).await);
    assert!(dial(&core, "0", &echo.named()).await.unwrap().dns.is_some());
    assert_eq!(dial(&core, "0", &echo.target()).await.unwrap().dns, None);
}

#[tokio::test]
async fn the_systems_resolver_knows_this_host() {
    let echo = Server::echo().await;
    let core = core(json!([{ "type": "direct" }]));
    assert!(echoes(&core, "0", &target(&format!("localhost:{}", echo.port()))).await);
    let nowhere = target("no-such-name.invalid:80");
    let failure = failure(&core, "0", &nowhere, "no-such-name.invalid").await;
    assert_eq!(failure, (Phase::Dial, Cause::DnsFailed));
}

#[tokio::test]
async fn a_refused_first_address_does_not_hide_the_second() {
    let echo = Server::echo().await;
    let mut core = core(json!([{ "type": "direct" }]));
    core.resolver = Names::new([("web.test", &["::1", "127.0.0.2", "127.0.0.1"])]);
    assert!(echoes(&core, "0", &echo.named()).await);
}

#[tokio::test]
async fn when_every_address_fails_each_is_told() {
    let mut core = core(json!([{ "type": "direct" }]));
    core.resolver = Names::new([
        ("web.test", &["127.0.0.1", "127.0.0.2"]),
        ("none.test", &[]),
    ]);
    let port = closed_port().await;
    let error = dial(&core, "0", &target(&format!("web.test:{port}")))
        .await
        .unwrap_err();
    assert_eq!((error.phase, error.cause), (Phase::Dial, Cause::Refused));
    assert!(
        error.text.contains("127.0.0.1") && error.text.contains("127.0.0.2"),
        "{error}"
    );
    let failure = failure(&core, "0", &target("none.test:80"), "none.test").await;
    assert_eq!(failure, (Phase::Dial, Cause::DnsFailed));
}

#[tokio::test]
async fn a_family_leaves_out_the_other() {
    let echo = Server::echo().await;
    let mut core = core(json!([{ "type": "direct" }]));
    core.resolver = Names::new([
        ("web.test", &["::1", "127.0.0.1"]),
        ("old.test", &["127.0.0.1"]),
    ]);
    let over = |family, to: Target| Target {
        family: Some(family),
        ..to
    };
    assert!(echoes(&core, "0", &over(Family::V4, echo.named())).await);
    let v6 = over(Family::V6, echo.named());
    assert_eq!(
        failure(&core, "0", &v6, "[::1]").await,
        (Phase::Dial, Cause::Refused)
    );
    let old = over(Family::V6, target("old.test:80"));
    assert_eq!(
        failure(&core, "0", &old, "no IPv6").await,
        (Phase::Dial, Cause::DnsFailed)
    );
    let ip = over(Family::V6, echo.target());
    assert_eq!(
        failure(&core, "0", &ip, "family").await,
        (Phase::Dial, Cause::NoRoute)
    );
}

#[tokio::test]
async fn domain_strategy_and_bind_address_are_honoured() {
    let (sender, mut peers) = mpsc::unbounded_channel();
    let server = Server::start(move |stream| {
        sender
            .send(stream.peer_addr().unwrap().ip().to_string())
            .unwrap();
        async {}
    })
    .await;
    let mut core = core(json!([
        { "type": "direct", "domain_strategy": "ipv4_only", "inet4_bind_address": "127.0.0.9" },
        { "type": "direct", "domain_strategy": "ipv6_only" },
    ]));
    core.resolver = Names::new([("web.test", &["::1", "127.0.0.1"])]);
    dial(&core, "0", &server.named()).await.unwrap();
    assert_eq!(peers.recv().await.unwrap(), "127.0.0.9");
    let v6 = failure(&core, "1", &server.named(), "[::1]").await;
    assert_eq!(v6, (Phase::Dial, Cause::Refused));
}

#[tokio::test]
async fn the_strategy_of_a_domain_resolver_counts_unless_the_outbound_has_its_own() {
    let server = Server::start(|_| async {}).await;
    let mut core = core(json!([
        { "type": "direct", "domain_resolver": { "server": "local", "strategy": "ipv6_only" } },
        { "type": "direct", "domain_strategy": "ipv4_only",
            "domain_resolver": { "server": "local", "strategy": "ipv6_only" } },
        { "type": "direct", "domain_resolver": "local" },
    ]));
    core.resolver = Names::new([("web.test", &["127.0.0.1", "::1"])]);
    let v6 = failure(&core, "0", &server.named(), "[::1]").await;
    assert_eq!(v6, (Phase::Dial, Cause::Refused));
    dial(&core, "1", &server.named()).await.unwrap();
    dial(&core, "2", &server.named()).await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_socket_goes_by_the_interface_that_the_config_names() {
    let echo = Server::echo().await;
    let core = core(json!([
        { "type": "direct", "bind_interface": "lo" },
        { "type": "direct", "bind_interface": "no-such-port" },
        { "type": "direct", "inet4_bind_address": "192.0.2.1" },
    ]));
    assert!(echoes(&core, "0", &echo.target()).await);
    let absent = failure(&core, "1", &echo.target(), "bind_interface no-such-port").await;
    assert_eq!(absent, (Phase::Dial, Cause::Other));
    let foreign = failure(&core, "2", &echo.target(), "192.0.2.1").await;
    assert_eq!(foreign, (Phase::Dial, Cause::NoRoute));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_socket_is_marked_where_this_process_may_mark_sockets() {
    let echo = Server::echo().await;
    let core = core(json!([
        { "type": "direct", "routing_mark": 255 },
        { "type": "direct", "routing_mark": "0xff" },
        { "type": "direct", "routing_mark": 0 },
    ]));
    let allowed = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)
        .unwrap()
        .set_mark(255)
        .is_ok();
    for tag in ["0", "1"] {
        if allowed {
            assert!(echoes(&core, tag, &echo.target()).await);
        } else {
            let refused = failure(&core, tag, &echo.target(), "CAP_NET_ADMIN").await;
            assert_eq!(refused, (Phase::Dial, Cause::Other));
        }
    }
    assert!(echoes(&core, "2", &echo.target()).await);
}

#[tokio::test(start_paused = true)]
async fn t10_a_silent_resolver_is_dns_timeout_at_the_deadline() {
    let mut core = core(json!([{ "type": "direct" }]));
    core.resolver = Names::new([]);
    let start = Instant::now();
    let failure = failure(&core, "0", &target("silent:80"), "silent").await;
    assert_eq!(failure, (Phase::Dial, Cause::DnsTimeout));
    assert_eq!(start.elapsed(), PATIENCE);
}

#[tokio::test]
async fn t10_a_connection_that_does_not_open_is_dial_timeout() {
    let full = FullListener::new();
    let core =
        core(json!([{ "type": "direct" }, { "type": "direct", "connect_timeout": "100ms" }]));
    let to = target(&full.address.to_string());
    let deadline = Instant::now() + SHORT;
    let error = core.dial("0", &to, deadline).await.unwrap_err();
    assert_eq!(
        (error.phase, error.cause),
        (Phase::Dial, Cause::DialTimeout)
    );
    assert!(deadline.elapsed() < PATIENCE / 2);

    let failure = timeout(PATIENCE / 2, failure(&core, "1", &to, "100ms")).await;
    assert_eq!(failure.unwrap(), (Phase::Dial, Cause::DialTimeout));
}

#[tokio::test]
async fn dropping_a_dial_closes_what_it_opened() {
    let (sender, mut ended) = mpsc::unbounded_channel();
    let proxy = Server::start(move |mut stream| {
        let sender = sender.clone();
        async move {
            let mut sent = Vec::new();
            stream.read_to_end(&mut sent).await.ok();
            sender.send(()).unwrap();
        }
    })
    .await;
    for kind in ["socks", "http"] {
        let core =
            core(json!([{ "type": kind, "server": "127.0.0.1", "server_port": proxy.port() }]));
        let web = target("web.test:80");
        assert!(timeout(SHORT, dial(&core, "0", &web)).await.is_err());
        timeout(PATIENCE, ended.recv()).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn block_refuses_and_unknown_tags_are_unsupported() {
    let core = core(json!([{ "type": "block", "tag": "no" }]));
    let web = target("web.test:80");
    assert_eq!(
        failure(&core, "no", &web, "`no`").await,
        (Phase::Dial, Cause::Refused)
    );
    assert_eq!(
        failure(&core, "away", &web, "`away`").await,
        (Phase::Dial, Cause::Unsupported)
    );
}

/// Listens, but has no place left in its queue: connecting to it hangs.
struct FullListener {
    address: SocketAddr,
    _listener: TcpListener,
    _waiting: Vec<TcpStream>,
}

impl FullListener {
    fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok();
        let waiting = std::iter::from_fn(connect).take(64).collect();
        Self {
            address,
            _listener: listener,
            _waiting: waiting,
        }
    }
}
