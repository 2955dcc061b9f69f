//! Servers that hang, close, reset, babble and drip, in every place of the way.

use outwatch::Cause::{
    DialTimeout, Eof, HttpMalformed, ProxyHandshake, Refused, Reset, Timeout, TlsFailed,
};
use outwatch::{Cause, Phase};
use outwatch_tests::peers::Manners::{Babbles, Closes, Drips, Hangs, Resets};
use outwatch_tests::peers::{
    Deaf, Manners, Microsocks, Port, Rude, http, outbound, socks, through, with,
};
use serde_json::{Value, json};

use super::world::{core, fail, head, soon, why};

/// A rude server in some place, and the cause it gives there.
type Expected = (Manners, Cause);

/// Nobody gets so far as to ask for it.
const UNREACHED: &str = "http://127.0.0.1:9/generate_204";

/// Proxies behave like this, and each gives its cause in the phase of the proxy.
async fn as_proxies(expected: &[Expected], outbound: impl Fn(u16) -> Value) {
    for (manners, cause) in expected {
        let rude = Rude::start(*manners);
        let core = core([outbound(rude.port())]);
        let error = fail(&core, "rude", &soon(head(UNREACHED))).await;
        assert_eq!(
            why(&error),
            (Phase::Proxy, *cause),
            "{manners:?}: {error:?}"
        );
        let names_both =
            error.text.contains("rude") && error.text.contains(&rude.port().to_string());
        assert!(names_both, "{manners:?}: {error:?}");
    }
}

/// The URL's own server behaves like this.
async fn as_targets(expected: &[Expected], scheme: &str, phase: Phase) {
    for (manners, cause) in expected {
        let rude = Rude::start(*manners);
        let core = core([json!({ "type": "direct", "tag": "direct" })]);
        let url = format!("{scheme}://127.0.0.1:{}/generate_204", rude.port());
        let error = fail(&core, "direct", &soon(head(&url))).await;
        assert_eq!(why(&error), (phase, *cause), "{manners:?}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_socks_proxy_gives_each_its_own_cause() {
    let expected = [
        (Hangs, Timeout),
        (Closes, Eof),
        (Resets, Reset),
        (Babbles, ProxyHandshake),
        (Drips, ProxyHandshake),
    ];
    as_proxies(&expected, |port| socks("rude", port)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_socks_4_proxy_gives_each_its_own_cause() {
    let expected = [
        (Hangs, Timeout),
        (Closes, Eof),
        (Resets, Reset),
        (Babbles, ProxyHandshake),
    ];
    let version = json!({ "version": "4a" });
    as_proxies(&expected, |port| with(socks("rude", port), version.clone())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_http_proxy_gives_each_its_own_cause() {
    let expected = [
        (Hangs, Timeout),
        (Closes, Eof),
        (Resets, Reset),
        (Babbles, ProxyHandshake),
        (Drips, Timeout),
    ];
    as_proxies(&expected, |port| http("rude", port)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_http_proxy_over_tls_gives_each_its_own_cause() {
    let expected = [
        (Hangs, Timeout),
        (Closes, Eof),
        (Resets, Reset),
        (Babbles, TlsFailed),
    ];
    let tls = json!({ "tls": { "enabled": true } });
    as_proxies(&expected, |port| with(http("rude", port), tls.clone())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_web_server_gives_each_its_own_cause() {
    let expected = [
        (Hangs, Timeout),
        (Closes, Eof),
        (Resets, Reset),
        (Babbles, HttpMalformed),
        (Drips, Timeout),
    ];
    as_targets(&expected, "http", Phase::Http).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_web_server_over_tls_gives_each_its_own_cause() {
    let expected = [
        (Hangs, Timeout),
        (Closes, Eof),
        (Resets, Reset),
        (Babbles, TlsFailed),
    ];
    as_targets(&expected, "https", Phase::Tls).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_web_server_behind_a_proxy_is_still_the_web_servers_fault() {
    let proxy = Microsocks::start();
    let core = core([proxy.outbound("proxy")]);
    let expected = [
        (Hangs, Timeout),
        (Closes, Eof),
        (Babbles, HttpMalformed),
        (Drips, Timeout),
    ];
    for (manners, cause) in expected {
        let rude = Rude::start(manners);
        let url = format!("http://127.0.0.1:{}/generate_204", rude.port());
        let error = fail(&core, "proxy", &soon(head(&url))).await;
        assert_eq!(why(&error), (Phase::Http, cause), "{manners:?}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_rude_proxy_behind_a_detour_is_named_itself() {
    let proxy = Microsocks::start();
    let rude = Rude::start(Hangs);
    let core = core([
        proxy.outbound("first"),
        through(socks("second", rude.port()), "first"),
    ]);
    let error = fail(&core, "second", &soon(head(UNREACHED))).await;
    assert_eq!(why(&error), (Phase::Proxy, Timeout), "{error:?}");
    assert!(error.text.contains("second"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_server_that_drops_everything_is_dial_timeout() {
    let deaf = Deaf::start();
    let core = core([
        socks("socks", deaf.port()),
        http("http", deaf.port()),
        json!({ "type": "direct", "tag": "direct" }),
    ]);
    let url = format!("http://127.0.0.1:{}/generate_204", deaf.port());
    for tag in ["socks", "http", "direct"] {
        let error = fail(&core, tag, &soon(head(&url))).await;
        assert_eq!(why(&error), (Phase::Dial, DialTimeout), "{tag}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_a_server_that_is_not_there_is_dial_refused() {
    let nobody = Port::reserve();
    let port = nobody.number();
    let core = core([
        outbound("socks", "socks", port),
        outbound("http", "http", port),
        json!({ "type": "direct", "tag": "direct" }),
    ]);
    let url = format!("http://127.0.0.1:{port}/generate_204");
    for tag in ["socks", "http", "direct"] {
        let error = fail(&core, tag, &head(&url)).await;
        assert_eq!(why(&error), (Phase::Dial, Refused), "{tag}: {error:?}");
    }
}
