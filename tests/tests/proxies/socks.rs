//! `socks` outbounds against microsocks and sing-box.

use outwatch::{Cause, Phase};
use outwatch_tests::peers::{Inbound, Microsocks, Nginx, Port, SingBox, socks, with};
use serde_json::json;

use super::world::{answer, assert_failed, core, failure};

#[tokio::test(flavor = "multi_thread")]
async fn t2_socks_5_without_and_with_an_account_reaches_the_url() {
    let web = Nginx::plain();
    let open = Microsocks::start();
    let closed = Microsocks::with_account("ann", "secret");
    let core = core([open.outbound("open"), closed.outbound("closed")]);
    for tag in ["open", "closed"] {
        let response = answer(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_wrong_password_is_proxy_auth() {
    let web = Nginx::plain();
    let micro = Microsocks::with_account("ann", "secret");
    let sing = SingBox::start([Inbound::socks().account("ann", "secret")]);
    let wrong = json!({ "username": "ann", "password": "guess" });
    let core = core([
        with(micro.outbound("micro"), wrong.clone()),
        with(sing.outbound(0, "sing"), wrong),
    ]);
    for tag in ["micro", "sing"] {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_failed(&error, Phase::Proxy, Cause::ProxyAuth, tag);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_no_password_where_one_is_wanted_is_proxy_auth() {
    let web = Nginx::plain();
    let micro = Microsocks::with_account("ann", "secret");
    let sing = SingBox::start([Inbound::socks().account("ann", "secret")]);
    let core = core([socks("micro", micro.port()), socks("sing", sing.port(0))]);
    for tag in ["micro", "sing"] {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_failed(&error, Phase::Proxy, Cause::ProxyAuth, "wants a username");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_a_password_that_the_proxy_does_not_ask_for_does_no_harm() {
    let web = Nginx::plain();
    let micro = Microsocks::start();
    let sing = SingBox::start([Inbound::socks()]);
    let account = json!({ "username": "ann", "password": "secret" });
    let core = core([
        with(socks("micro", micro.port()), account.clone()),
        with(socks("sing", sing.port(0)), account),
    ]);
    for tag in ["micro", "sing"] {
        let response = answer(&core, tag, &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_every_version_of_socks_reaches_the_url() {
    let web = Nginx::plain();
    let sing = SingBox::start([Inbound::socks(), Inbound::mixed()]);
    let versions = ["4", "4a", "5"];
    let core = core(versions.iter().flat_map(|version| {
        [0, 1].map(|inbound| {
            let tag = format!("{version} on {inbound}");
            let outbound = sing.outbound(inbound, &tag);
            with(outbound, json!({ "version": version }))
        })
    }));
    for version in versions {
        for inbound in [0, 1] {
            let tag = format!("{version} on {inbound}");
            let response = answer(&core, &tag, &web.url("/generate_204")).await;
            assert_eq!(response.status, 204, "{tag}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_socks_4_tells_the_user_and_is_refused_for_a_wrong_one() {
    let web = Nginx::plain();
    let sing = SingBox::start([Inbound::socks().account("ann", "")]);
    let wrong = json!({ "username": "bob" });
    for version in ["4", "4a"] {
        let outbound = with(sing.outbound(0, "right"), json!({ "version": version }));
        let core = core([
            outbound.clone(),
            with(outbound, with(wrong.clone(), json!({ "tag": "wrong" }))),
        ]);
        let response = answer(&core, "right", &web.url("/generate_204")).await;
        assert_eq!(response.status, 204, "{version}");
        // sing-box cuts its refusal short and closes, so it cannot be read.
        let error = failure(&core, "wrong", &web.url("/generate_204")).await;
        assert_eq!(error.phase, Phase::Proxy, "{version}: {error:?}");
        let causes = [Cause::Eof, Cause::Reset];
        assert!(causes.contains(&error.cause), "{version}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_proxy_that_closes_on_a_version_it_does_not_speak_is_eof() {
    let web = Nginx::plain();
    let micro = Microsocks::start();
    let core = core([with(micro.outbound("four"), json!({ "version": "4" }))]);
    let error = failure(&core, "four", &web.url("/generate_204")).await;
    assert_failed(&error, Phase::Proxy, Cause::Eof, "four");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_proxy_that_is_not_there_is_dial_refused() {
    let nobody = Port::reserve();
    let core = core([socks("dead", nobody.number())]);
    let error = failure(&core, "dead", "http://127.0.0.1:9/generate_204").await;
    let port = nobody.number().to_string();
    assert_failed(&error, Phase::Dial, Cause::Refused, &port);
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_target_that_is_not_there_is_refused_by_the_proxy_not_by_the_dial() {
    let nobody = Port::reserve();
    let micro = Microsocks::start();
    let sing = SingBox::start([Inbound::socks()]);
    let core = core([micro.outbound("micro"), sing.outbound(0, "sing")]);
    let url = format!("http://127.0.0.1:{}/generate_204", nobody.number());
    for tag in ["micro", "sing"] {
        let error = failure(&core, tag, &url).await;
        assert_failed(&error, Phase::Proxy, Cause::Refused, tag);
    }
}
