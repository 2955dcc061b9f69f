//! TLS with real servers, good certificates and bad ones: with the proxy and with the
//! URL's own host.

use outwatch::{Cause, NativeCore, Phase};
use outwatch_tests::peers::{Authority, Inbound, Leaf, Nginx, SingBox, Site, http, with};
use serde_json::{Value, json};

use super::world::{answer, assert_failed, core, core_of, failure, fetch, head};

/// An `http` outbound over TLS to the first proxy of `sing`.
fn over_tls(sing: &SingBox, tag: &str, fields: Value) -> Value {
    let tls = with(json!({ "enabled": true }), fields);
    with(sing.outbound(0, tag), json!({ "tls": tls }))
}

fn https(port: u16) -> String {
    format!("https://127.0.0.1:{port}/generate_204")
}

/// Outbound `direct` in a config that trusts `authority` beside the system.
fn trusting(authority: &Authority) -> NativeCore {
    core_of(&json!({
        "outbounds": [{ "type": "direct", "tag": "direct" }],
        "certificate": { "certificate": authority.pem() },
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_a_proxy_over_tls_is_trusted_as_the_config_says() {
    let web = Nginx::plain();
    let authority = Authority::new("Proxy Authority");
    let leaf = authority.leaf(&["127.0.0.1", "proxy.test"]);
    let sing = SingBox::start([Inbound::http().tls(&leaf).account("ann", "secret")]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    let pem = authority.pem();
    let lines: Vec<&str> = pem.lines().collect();
    let core = core([
        over_tls(&sing, "text", json!({ "certificate": pem })),
        over_tls(&sing, "lines", json!({ "certificate": lines })),
        over_tls(&sing, "file", json!({ "certificate_path": file })),
        over_tls(
            &sing,
            "named",
            json!({ "certificate": pem, "server_name": "proxy.test" }),
        ),
        over_tls(
            &sing,
            "alpn",
            json!({ "certificate": pem, "alpn": ["http/1.1"] }),
        ),
        over_tls(&sing, "insecure", json!({ "insecure": true })),
    ]);
    for tag in ["text", "lines", "file", "named", "alpn", "insecure"] {
        let response = answer(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_the_top_level_certificate_holds_for_a_proxy_too() {
    let web = Nginx::plain();
    let authority = Authority::new("Proxy Authority");
    let sing = SingBox::start([Inbound::http().tls(&authority.leaf(&["127.0.0.1"]))]);
    let core = core_of(&json!({
        "outbounds": [sing.outbound(0, "proxy")],
        "certificate": { "certificate": authority.pem() },
    }));
    let response = answer(&core, "proxy", &web.url("/generate_204")).await;
    assert_eq!(response.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_a_self_signed_certificate_is_trusted_when_it_is_given() {
    let web = Nginx::plain();
    let leaf = Leaf::self_signed(&["127.0.0.1"]);
    let sing = SingBox::start([Inbound::http().tls(&leaf)]);
    let given = json!({ "certificate": leaf.certificate });
    let core = core([
        over_tls(&sing, "given", given),
        over_tls(&sing, "not given", json!({})),
    ]);
    let response = answer(&core, "given", &web.url("/generate_204")).await;
    assert_eq!(response.status, 204);
    let error = failure(&core, "not given", &web.url("/generate_204")).await;
    assert_failed(&error, Phase::Proxy, Cause::TlsCertificate, "issuer");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_proxy_with_a_bad_certificate_is_tls_cert() {
    let web = Nginx::plain();
    let url = web.url("/generate_204");
    let authority = Authority::new("Proxy Authority");
    let trusted = json!({ "certificate": authority.pem() });
    let stranger = Authority::new("Unknown Authority");
    let bad = [
        (authority.expired(&["127.0.0.1"]), "has expired"),
        (authority.leaf(&["other.test"]), "for another name"),
        (stranger.leaf(&["127.0.0.1"]), "unknown issuer"),
        (Leaf::self_signed(&["127.0.0.1"]), "unknown issuer"),
    ];
    for (leaf, words) in bad {
        let sing = SingBox::start([Inbound::http().tls(&leaf)]);
        let core = core([
            over_tls(&sing, "careful", trusted.clone()),
            over_tls(&sing, "careless", json!({ "insecure": true })),
        ]);
        let error = failure(&core, "careful", &url).await;
        assert_failed(&error, Phase::Proxy, Cause::TlsCertificate, words);
        assert_eq!(answer(&core, "careless", &url).await.status, 204);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_certificate_for_another_server_name_is_tls_cert() {
    let authority = Authority::new("Proxy Authority");
    let sing = SingBox::start([Inbound::http().tls(&authority.leaf(&["127.0.0.1"]))]);
    let fields = json!({ "certificate": authority.pem(), "server_name": "front.test" });
    let core = core([over_tls(&sing, "fronted", fields)]);
    let error = failure(&core, "fronted", "http://127.0.0.1:9/generate_204").await;
    assert_failed(&error, Phase::Proxy, Cause::TlsCertificate, "another name");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_server_without_tls_where_tls_is_wanted_is_tls_fail() {
    let web = Nginx::plain();
    let tls = json!({ "tls": { "enabled": true, "insecure": true } });
    let core = core([with(http("plain", web.port(0)), tls)]);
    let error = failure(&core, "plain", "http://127.0.0.1:9/generate_204").await;
    assert_failed(&error, Phase::Proxy, Cause::TlsFailed, "plain");
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_an_https_url_needs_an_authority_that_the_config_trusts() {
    let authority = Authority::new("Web Authority");
    let stranger = Authority::new("Unknown Authority");
    let web = Nginx::start(&[
        Site::Tls(&authority.leaf(&["127.0.0.1"])),
        Site::Tls(&authority.expired(&["127.0.0.1"])),
        Site::Tls(&authority.leaf(&["other.test"])),
        Site::Tls(&stranger.leaf(&["127.0.0.1"])),
        Site::Tls(&Leaf::self_signed(&["127.0.0.1"])),
        Site::Plain,
    ]);
    let core = trusting(&authority);
    let response = answer(&core, "direct", &https(web.port(0))).await;
    assert_eq!(response.status, 204);
    let bad = [
        (1, Cause::TlsCertificate, "has expired"),
        (2, Cause::TlsCertificate, "for another name"),
        (3, Cause::TlsCertificate, "unknown issuer"),
        (4, Cause::TlsCertificate, "unknown issuer"),
        (5, Cause::TlsFailed, "does not speak TLS"),
    ];
    for (site, cause, words) in bad {
        let error = failure(&core, "direct", &https(web.port(site))).await;
        assert_failed(&error, Phase::Tls, cause, words);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t3_two_round_trips_share_one_tls_connection() {
    let authority = Authority::new("Web Authority");
    let web = Nginx::start(&[Site::Tls(&authority.leaf(&["127.0.0.1"]))]);
    let mut request = head(&https(web.port(0)));
    request.repeat = true;
    let response = fetch(&trusting(&authority), "direct", &request).await;
    assert_eq!(response.status, 204);
    assert!(response.timing.repeat.is_some(), "{:?}", response.timing);
}
