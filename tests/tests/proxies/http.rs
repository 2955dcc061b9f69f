//! `http` outbounds against tinyproxy and sing-box.

use outwatch::{Cause, Phase};
use outwatch_tests::peers::{Inbound, Nginx, Port, SingBox, Tinyproxy, http, with};
use serde_json::json;

use super::world::{answer, assert_failed, core, failure};

#[tokio::test(flavor = "multi_thread")]
async fn t2_connect_without_and_with_an_account_reaches_the_url() {
    let web = Nginx::plain();
    let open = Tinyproxy::start();
    let closed = Tinyproxy::with_account("ann", "secret");
    let sing = SingBox::start([
        Inbound::http(),
        Inbound::http().account("ann", "secret"),
        Inbound::mixed().account("ann", "secret"),
    ]);
    let core = core([
        open.outbound("tiny open"),
        closed.outbound("tiny closed"),
        sing.outbound(0, "sing open"),
        sing.outbound(1, "sing closed"),
        with(sing.outbound(2, "sing mixed"), json!({ "type": "http" })),
    ]);
    for tag in [
        "tiny open",
        "tiny closed",
        "sing open",
        "sing closed",
        "sing mixed",
    ] {
        let response = answer(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_or_missing_password_is_proxy_auth() {
    let web = Nginx::plain();
    let tiny = Tinyproxy::with_account("ann", "secret");
    let sing = SingBox::start([Inbound::http().account("ann", "secret")]);
    let wrong = json!({ "username": "ann", "password": "guess" });
    let core = core([
        with(tiny.outbound("tiny, wrong"), wrong.clone()),
        with(sing.outbound(0, "sing, wrong"), wrong),
        http("tiny, none", tiny.port()),
        http("sing, none", sing.port(0)),
    ]);
    for tag in ["tiny, wrong", "sing, wrong", "tiny, none", "sing, none"] {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_failed(&error, Phase::Proxy, Cause::ProxyAuth, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_the_headers_of_the_config_are_sent_with_the_connect() {
    let web = Nginx::plain();
    let tiny = Tinyproxy::with_account("ann", "secret");
    // "ann:secret", given as a header instead of as an account.
    let headers = json!({ "headers": { "Proxy-Authorization": "Basic YW5uOnNlY3JldA==" } });
    let core = core([with(http("by header", tiny.port()), headers)]);
    let response = answer(&core, "by header", &web.url("/generate_204")).await;
    assert_eq!(response.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_proxy_that_is_not_there_is_dial_refused() {
    let nobody = Port::reserve();
    let core = core([http("dead", nobody.number())]);
    let error = failure(&core, "dead", "http://127.0.0.1:9/generate_204").await;
    let port = nobody.number().to_string();
    assert_failed(&error, Phase::Dial, Cause::Refused, &port);
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_target_that_is_not_there_is_the_proxys_refusal() {
    let nobody = Port::reserve();
    let tiny = Tinyproxy::start();
    let sing = SingBox::start([Inbound::http()]);
    let core = core([tiny.outbound("tiny"), sing.outbound(0, "sing")]);
    let url = format!("http://127.0.0.1:{}/generate_204", nobody.number());
    for tag in ["tiny", "sing"] {
        let error = failure(&core, tag, &url).await;
        assert_failed(&error, Phase::Proxy, Cause::ProxyHandshake, tag);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_web_server_is_no_proxy() {
    let web = Nginx::plain();
    let core = core([http("web", web.port(0))]);
    let error = failure(&core, "web", &web.url("/generate_204")).await;
    assert_failed(&error, Phase::Proxy, Cause::ProxyHandshake, "web");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_socks_proxy_is_no_http_proxy_and_the_other_way_round() {
    let web = Nginx::plain();
    let sing = SingBox::start([Inbound::socks(), Inbound::http()]);
    let core = core([
        with(sing.outbound(0, "http to socks"), json!({ "type": "http" })),
        with(
            sing.outbound(1, "socks to http"),
            json!({ "type": "socks" }),
        ),
    ]);
    for tag in ["http to socks", "socks to http"] {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(error.phase, Phase::Proxy, "{error:?}");
        let known = [Cause::ProxyHandshake, Cause::Eof, Cause::Reset];
        assert!(known.contains(&error.cause), "{error:?}");
    }
}
