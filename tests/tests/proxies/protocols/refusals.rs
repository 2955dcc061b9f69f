//! Servers that refuse the way to them: the connection, TLS, or the transport.

use outwatch::{Cause, Phase};
use outwatch_tests::peers::{Authority, Manners, Nginx, Port, Rude, outbound, with};
use serde_json::{Value, json};

use super::super::world::{assert_failed, core, fail, failure, head, soon, why};
use super::all::{All, KEY, PASSWORD, UUID};

/// Nobody gets so far as to ask for it.
const UNREACHED: &str = "http://127.0.0.1:9/generate_204";

/// One outbound of each protocol whose server is at `port`.
fn each(port: u16) -> [Value; 4] {
    [
        with(
            outbound("shadowsocks", "ss", port),
            json!({ "method": "aes-128-gcm", "password": PASSWORD }),
        ),
        with(
            outbound("shadowsocks", "ss2022", port),
            json!({ "method": "2022-blake3-aes-128-gcm", "password": KEY }),
        ),
        with(
            outbound("trojan", "trojan", port),
            json!({ "password": PASSWORD }),
        ),
        with(outbound("vless", "vless", port), json!({ "uuid": UUID })),
    ]
}

const TAGS: [&str; 4] = ["ss", "ss2022", "trojan", "vless"];

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_server_that_is_not_there_is_dial_refused_for_every_protocol() {
    let nobody = Port::reserve();
    let core = core(each(nobody.number()));
    for tag in TAGS {
        let error = failure(&core, tag, UNREACHED).await;
        assert_eq!(
            why(&error),
            (Phase::Dial, Cause::Refused),
            "{tag}: {error:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_server_gives_each_its_own_cause_in_every_protocol() {
    for (manners, cause) in [
        (Manners::Hangs, (Phase::Http, Cause::Timeout)),
        (Manners::Closes, (Phase::Proxy, Cause::Eof)),
        (Manners::Resets, (Phase::Proxy, Cause::Reset)),
    ] {
        let rude = Rude::start(manners);
        let core = core(each(rude.port()));
        for tag in TAGS {
            let error = fail(&core, tag, &soon(head(UNREACHED))).await;
            assert_eq!(why(&error), cause, "{tag} {manners:?}: {error:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_an_answer_that_is_no_vless_is_proxy_handshake() {
    let rude = Rude::start(Manners::Babbles);
    let core = core(each(rude.port()));
    let error = failure(&core, "vless", UNREACHED).await;
    assert_failed(&error, Phase::Proxy, Cause::ProxyHandshake, "`vless`");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_an_upgrade_that_is_refused_is_proxy_handshake_with_the_status() {
    let (web, all) = (Nginx::plain(), All::start());
    let elsewhere = |transport: Value| json!({ "transport": transport });
    let core = all.core_of([
        all.changed(
            "trojan ws",
            elsewhere(json!({ "type": "ws", "path": "/wrong" })),
        ),
        all.changed(
            "vless ws tls",
            elsewhere(json!({ "type": "ws", "path": "/wrong" })),
        ),
        all.changed(
            "vless early in header",
            elsewhere(json!({
                "type": "ws", "path": "/wrong", "max_early_data": 2048,
                "early_data_header_name": "Sec-WebSocket-Protocol",
            })),
        ),
        all.changed(
            "vless httpupgrade",
            elsewhere(json!({ "type": "httpupgrade", "path": "/wrong", "host": "front.test" })),
        ),
    ]);
    for tag in [
        "trojan ws",
        "vless ws tls",
        "vless early in header",
        "vless httpupgrade",
    ] {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_failed(&error, Phase::Proxy, Cause::ProxyHandshake, "404");
        assert!(error.text.contains(tag), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_an_ordinary_web_server_is_no_transport() {
    let web = Nginx::plain();
    let transport = |path: &str| json!({ "transport": { "type": "ws", "path": path } });
    for (path, status) in [("/error", "500"), ("/login", "302"), ("/page", "200")] {
        let core = core([with(each(web.port(0))[2].clone(), transport(path))]);
        let error = failure(&core, "trojan", UNREACHED).await;
        assert_failed(&error, Phase::Proxy, Cause::ProxyHandshake, status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_bad_certificates_and_servers_without_tls_are_told_apart() {
    let all = All::start();
    let stranger = Authority::new("Unknown Authority");
    let tls = |fields: Value| json!({ "tls": with(json!({ "enabled": true }), fields) });
    let core = all.core_of([
        all.changed("trojan tls", tls(json!({ "certificate": stranger.pem() }))),
        all.changed("vless ws tls", tls(json!({ "server_name": "other.test" }))),
        all.changed("trojan", tls(json!({}))),
        all.changed("vless httpupgrade", tls(json!({}))),
    ]);
    for (tag, cause) in [
        ("trojan tls", Cause::TlsCertificate),
        ("vless ws tls", Cause::TlsCertificate),
        ("vless httpupgrade", Cause::TlsFailed),
    ] {
        let error = failure(&core, tag, UNREACHED).await;
        assert_failed(&error, Phase::Proxy, cause, tag);
    }
    // What a trojan server without TLS makes of a TLS hello is to close.
    let error = failure(&core, "trojan", UNREACHED).await;
    let ended = [Cause::Eof, Cause::Reset].contains(&error.cause);
    assert!(ended && error.phase == Phase::Proxy, "{error:?}");
}
