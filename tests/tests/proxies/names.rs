//! Who resolves a name: the proxy, the detour, or this machine.

use outwatch::{Cause, Phase};
use outwatch_tests::peers::{Inbound, Microsocks, Nginx, SingBox, through, with};
use serde_json::json;

use super::world::{answer, assert_failed, core, fail, failure, head, soon};

fn secret(port: u16) -> String {
    format!("http://{}:{port}/generate_204", SingBox::SECRET_NAME)
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_the_proxy_resolves_names_where_its_protocol_can_carry_them() {
    let web = Nginx::plain();
    let sing = SingBox::start([Inbound::socks(), Inbound::http()]);
    let core = core([
        with(sing.outbound(0, "socks 4a"), json!({ "version": "4a" })),
        sing.outbound(0, "socks 5"),
        sing.outbound(1, "http"),
    ]);
    for tag in ["socks 4a", "socks 5", "http"] {
        let response = answer(&core, tag, &secret(web.port(0))).await;
        assert_eq!(response.status, 204, "{tag}");
        assert_eq!(response.timing.dns, None, "{tag} asked our resolver");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_socks_4_and_direct_resolve_here_and_fail_before_they_dial() {
    let web = Nginx::plain();
    let sing = SingBox::start([Inbound::socks()]);
    let core = core([
        with(sing.outbound(0, "socks 4"), json!({ "version": "4" })),
        json!({ "type": "direct", "tag": "direct" }),
    ]);
    for tag in ["socks 4", "direct"] {
        let error = fail(&core, tag, &soon(head(&secret(web.port(0))))).await;
        assert_eq!(error.phase, Phase::Dial, "{error:?}");
        // Which of the two depends on this machine's resolver.
        let causes = [Cause::DnsFailed, Cause::DnsTimeout];
        assert!(causes.contains(&error.cause), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_name_that_the_proxy_does_not_know_is_the_proxys_refusal() {
    let sing = SingBox::start([Inbound::socks()]);
    let core = core([sing.outbound(0, "sing")]);
    let error = failure(&core, "sing", "http://known-to-nobody.test/generate_204").await;
    assert_failed(
        &error,
        Phase::Proxy,
        Cause::ProxyHandshake,
        "known-to-nobody.test",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_a_detour_resolves_the_name_of_the_next_proxy() {
    let web = Nginx::plain();
    let sing = SingBox::start([Inbound::socks()]);
    let micro = Microsocks::start();
    let named = json!({ "server": SingBox::SECRET_NAME });
    let core = core([
        sing.outbound(0, "first"),
        through(with(micro.outbound("second"), named), "first"),
    ]);
    let response = answer(&core, "second", &web.url("/generate_204")).await;
    assert_eq!(response.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_localhost_is_reached_though_only_one_of_its_addresses_listens() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let core = core([
        json!({ "type": "direct", "tag": "direct" }),
        with(proxy.outbound("named"), json!({ "server": "localhost" })),
    ]);
    let url = format!("http://localhost:{}/generate_204", web.port(0));
    for tag in ["direct", "named"] {
        let response = answer(&core, tag, &url).await;
        assert_eq!(response.status, 204, "{tag}");
        assert!(response.timing.dns.is_some(), "{tag} asked our resolver");
    }
}
