//! What is dialed through a real sing-box, and how it fails.

use std::time::Duration;

use outwatch::{Cause, Family, Host, Network, Phase, ProxyCore as _, Target};
use outwatch_tests::peers::{
    Authority, EXITS, Exit, Manners, Microsocks, Nginx, Port, Protocols, Rude, WireGuard, socks,
    through, with,
};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::world::{PATIENCE, answer, core, core_of, fail, fetch};
use crate::proxies::world::{assert_failed, get, head, soon};

/// A config with an outbound of every protocol, and whom to trust.
fn of_all(authority: &Authority, outbound: impl Fn(&str) -> Value) -> Value {
    json!({
        "outbounds": Protocols::TYPES.map(outbound),
        "certificate": { "certificate": authority.pem() },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_every_protocol_that_sing_box_speaks_reaches_the_url() {
    let web = Nginx::plain();
    let authority = Authority::new("Protocol Authority");
    let servers = Protocols::start(&authority.leaf(&["127.0.0.1"]));
    let core = core_of(&of_all(&authority, |name| servers.outbound(name))).await;
    for tag in Protocols::TYPES {
        let response = answer(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t1_an_endpoint_is_dialed_like_an_outbound() {
    let web = Nginx::plain();
    let far = WireGuard::start();
    let nobody = Port::reserve();
    let core = core_of(&json!({ "endpoints": [far.endpoint("tunnel")] })).await;
    let at = |port| format!("http://{}:{port}/generate_204", WireGuard::ADDRESS);
    let response = answer(&core, "tunnel", &at(web.port(0))).await;
    assert_eq!(response.status, 204);
    let error = fail(&core, "tunnel", &head(&at(nobody.number()))).await;
    assert_failed(&error, Phase::Dial, Cause::Refused, "`tunnel`");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_secret_falls_into_a_kind_and_is_never_told() {
    let web = Nginx::plain();
    let authority = Authority::new("Protocol Authority");
    let servers = Protocols::start(&authority.leaf(&["127.0.0.1"]));
    let core = core_of(&of_all(&authority, |name| servers.stranger(name))).await;
    let expected = [
        ("hysteria2", Cause::ProxyAuth, "authentication failed"),
        ("socks", Cause::ProxyAuth, "incorrect user name or password"),
        ("http", Cause::ProxyAuth, "authentication required"),
    ];
    for (tag, cause, words) in expected {
        let error = fail(&core, tag, &head(&web.url("/generate_204"))).await;
        assert_failed(&error, Phase::Proxy, cause, words);
        assert!(error.text.contains(&format!("`{tag}`")), "{error:?}");
        assert!(!error.text.contains("guess"), "{error:?}");
    }
    // Their servers close without a word, so that nobody can tell what they are.
    for tag in ["tuic", "vmess", "vless", "trojan", "shadowsocks"] {
        let error = fail(&core, tag, &head(&web.url("/generate_204"))).await;
        let causes = [Cause::Eof, Cause::Reset];
        assert!(causes.contains(&error.cause), "{tag}: {error:?}");
        let words = format!("the server of `{tag}` when it is told a wrong secret");
        assert!(error.text.contains(&words), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_what_sing_box_says_of_a_failed_dial_gives_kind_and_text() {
    let nobody = Port::reserve();
    let babbles = Rude::start(Manners::Babbles);
    let authority = Authority::new("Nobody's Authority");
    let servers = Protocols::start(&authority.leaf(&["127.0.0.1"]));
    let core = core([
        socks("dead", nobody.number()),
        socks("babbles", babbles.port()),
        servers.outbound("trojan"),
        with(
            socks("nowhere", 1080),
            json!({ "server": "no-such-name.invalid" }),
        ),
        json!({ "type": "direct", "tag": "direct" }),
        json!({ "type": "block", "tag": "block" }),
    ])
    .await;
    let expected = [
        ("dead", Phase::Dial, Cause::Refused, "connection refused"),
        ("direct", Phase::Dial, Cause::Refused, "connection refused"),
        ("block", Phase::Dial, Cause::Refused, "`block`"),
        (
            "babbles",
            Phase::Proxy,
            Cause::ProxyHandshake,
            "expected socks version 5",
        ),
        ("trojan", Phase::Proxy, Cause::TlsCertificate, "x509"),
        (
            "nowhere",
            Phase::Dial,
            Cause::DnsFailed,
            "no-such-name.invalid",
        ),
    ];
    let url = format!("http://127.0.0.1:{}/generate_204", nobody.number());
    for (tag, phase, cause, words) in expected {
        let error = fail(&core, tag, &head(&url)).await;
        assert_failed(&error, phase, cause, words);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_server_that_says_nothing_is_dial_timeout_at_the_deadline() {
    let hangs = Rude::start(Manners::Hangs);
    let core = core([socks("hangs", hangs.port())]).await;
    let begun = Instant::now();
    let error = fail(&core, "hangs", &soon(head("http://127.0.0.1:9/"))).await;
    assert_failed(&error, Phase::Dial, Cause::DialTimeout, "`hangs`");
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

/// Where the traffic of `tag` comes out.
async fn exit(core: &outwatch::SingBoxCore, tag: &str, web: &Nginx) -> &'static Exit {
    let response = fetch(core, tag, &get(&web.url("/ip"))).await;
    let told: Value = serde_json::from_slice(&response.body).expect("JSON");
    let exit = EXITS.iter().find(|exit| told["ip"] == exit.address);
    exit.unwrap_or_else(|| panic!("{told}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_a_detour_through_a_group_follows_its_selection() {
    let web = Nginx::plain();
    let german = Microsocks::leaving_from(&EXITS[1]);
    let japanese = Microsocks::leaving_from(&EXITS[2]);
    let servers = Microsocks::start();
    let core = core([
        german.outbound("german"),
        japanese.outbound("japanese"),
        json!({
            "type": "balancer", "tag": "Wahl / 選択 %2F", "outbounds": ["german", "japanese"],
        }),
        json!({ "type": "selector", "tag": "outer", "outbounds": ["Wahl / 選択 %2F"] }),
        through(
            json!({ "type": "socks", "tag": "by choice", "server": "127.0.0.1",
            "server_port": servers.port() }),
            "outer",
        ),
        json!({ "type": "selector", "tag": "alone", "outbounds": ["by choice"] }),
    ])
    .await;
    let group = "Wahl / 選択 %2F";
    assert_eq!(core.selected(group, Network::Tcp), None);
    for (member, place) in [("japanese", 2), ("german", 1), ("japanese", 2)] {
        core.select(group, Network::Tcp, member).unwrap();
        assert_eq!(core.selected(group, Network::Tcp).as_deref(), Some(member));
        assert_eq!(exit(&core, group, &web).await, &EXITS[place], "{member}");
        assert_eq!(exit(&core, "outer", &web).await, &EXITS[place], "{member}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_a_selection_holds_for_the_very_next_dial_through_a_detour() {
    let web = Nginx::plain();
    let nobody = Port::reserve();
    let (good, last) = (Microsocks::start(), Microsocks::start());
    let core = core([
        good.outbound("good"),
        socks("dead", nobody.number()),
        json!({ "type": "selector", "tag": "choice", "outbounds": ["good", "dead"] }),
        through(last.outbound("behind"), "choice"),
    ])
    .await;
    let url = web.url("/generate_204");
    for _ in 0..5 {
        core.select("choice", Network::Tcp, "dead").unwrap();
        let error = fail(&core, "behind", &head(&url)).await;
        assert_failed(&error, Phase::Dial, Cause::Refused, "connection refused");
        core.select("choice", Network::Tcp, "good").unwrap();
        assert_eq!(answer(&core, "behind", &url).await.status, 204);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn v2_a_family_is_dialed_by_the_addresses_that_the_config_s_dns_knows() {
    let listener = TcpListener::bind("[::1]:0")
        .await
        .expect("IPv6 on loopback");
    let port = listener.local_addr().expect("a bound listener").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"six").await;
        }
    });
    let core = core_of(&json!({
        "dns": {
            "servers": [{
                "type": "hosts", "tag": "hosts",
                "predefined": { "both.test": ["127.0.0.1", "::1"], "old.test": ["127.0.0.1"] },
            }],
        },
        "route": { "default_domain_resolver": "hosts" },
        "outbounds": [{ "type": "direct", "tag": "direct" }],
    }))
    .await;
    let target = |name: &str| Target {
        host: Host::Name(name.to_owned()),
        port,
        family: Some(Family::V6),
    };
    let deadline = Instant::now() + PATIENCE;
    let mut dialed = core
        .dial("direct", &target("both.test"), deadline)
        .await
        .unwrap();
    let mut said = [0; 3];
    dialed.stream.read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"six");
    assert!(dialed.dns.is_some());
    let error = core
        .dial("direct", &target("old.test"), deadline)
        .await
        .unwrap_err();
    assert_failed(&error, Phase::Dial, Cause::DnsFailed, "old.test");
}
