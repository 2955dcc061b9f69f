//! `http` outbounds against tinyproxy and sing-box.

use outwatch::{Cause, Phase};
use outwatch_tests::peers::{Inbound, Nginx, Port, SingBox, Tinyproxy, http, socks, with};
use serde_json::json;

use super::world::{answer, assert_failed, core, fail, failure, head, soon};

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
    let core = core([tiny.outbound("tiny")]);
    let url = format!("http://127.0.0.1:{}/generate_204", nobody.number());
    let error = failure(&core, "tiny", &url).await;
    assert_failed(&error, Phase::Proxy, Cause::ProxyHandshake, "tiny");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_proxy_that_agrees_before_it_has_dialed_ends_the_exchange() {
    let nobody = Port::reserve();
    let sing = SingBox::start([Inbound::http()]);
    let core = core([sing.outbound(0, "sing")]);
    let url = format!("http://127.0.0.1:{}/generate_204", nobody.number());
    let error = failure(&core, "sing", &url).await;
    assert_eq!(error.phase, Phase::Http, "{error:?}");
    // Which of the two depends on how much the proxy had read.
    let causes = [Cause::Eof, Cause::Reset];
    assert!(causes.contains(&error.cause), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_web_server_is_no_proxy() {
    let web = Nginx::plain();
    let core = core([http("web", web.port(0))]);
    let error = failure(&core, "web", &web.url("/generate_204")).await;
    assert_failed(&error, Phase::Proxy, Cause::ProxyHandshake, "web");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_an_http_proxy_waits_in_vain_for_a_line_from_a_socks_client() {
    let sing = SingBox::start([Inbound::http()]);
    let core = core([socks("socks", sing.port(0))]);
    let request = soon(head("http://127.0.0.1:9/generate_204"));
    let error = fail(&core, "socks", &request).await;
    assert_failed(
        &error,
        Phase::Proxy,
        Cause::Timeout,
        "did not answer in time",
    );
}
