//! Outbounds through outbounds, three deep and through groups.

use outwatch::{Cause, NativeCore, Network, Phase, ProxyCore as _};
use outwatch_tests::peers::{
    Authority, EXITS, Exit, Inbound, Microsocks, Nginx, Port, SingBox, Site, Tinyproxy, socks,
    through, with,
};
use serde_json::{Value, json};

use super::world::{answer, assert_failed, core, core_of, failure, fetch, get};

/// Where the traffic of `tag` comes out.
async fn exit(core: &NativeCore, tag: &str, web: &Nginx) -> &'static Exit {
    let response = fetch(core, tag, &get(&web.url("/ip"))).await;
    let told: Value = serde_json::from_slice(&response.body).expect("JSON");
    let exit = EXITS.iter().find(|exit| told["ip"] == exit.address);
    exit.unwrap_or_else(|| panic!("{told}"))
}

/// Three real proxies of three kinds, each with an exit of its own.
struct Three {
    first: Microsocks,
    second: Tinyproxy,
    third: SingBox,
    authority: Authority,
}

impl Three {
    fn start() -> Self {
        let authority = Authority::new("Chain Authority");
        let third = Inbound::http()
            .tls(&authority.leaf(&["127.0.0.1"]))
            .account("ann", "secret")
            .leaving_from(&EXITS[3]);
        Self {
            first: Microsocks::leaving_from(&EXITS[1]),
            second: Tinyproxy::leaving_from(&EXITS[2]),
            third: SingBox::start([third]),
            authority,
        }
    }

    /// `last` is dialed through `middle` and that through `first`.
    fn config(&self, more: impl IntoIterator<Item = Value>) -> Value {
        let mut outbounds = vec![
            self.first.outbound("first"),
            through(self.second.outbound("middle"), "first"),
            through(self.third.outbound(0, "last"), "middle"),
        ];
        outbounds.extend(more);
        json!({
            "outbounds": outbounds,
            "certificate": { "certificate": self.authority.pem() },
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_three_detours_of_three_kinds_reach_the_url() {
    let web = Nginx::plain();
    let three = Three::start();
    let more = socks("on top", three.first.port());
    let core = core_of(&three.config([through(more, "last")]));
    assert_eq!(exit(&core, "first", &web).await, &EXITS[1]);
    assert_eq!(exit(&core, "middle", &web).await, &EXITS[2]);
    assert_eq!(exit(&core, "last", &web).await, &EXITS[3]);
    assert_eq!(exit(&core, "on top", &web).await, &EXITS[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_an_https_url_is_reached_through_three_detours() {
    let three = Three::start();
    let web = Nginx::start(&[Site::Tls(&three.authority.leaf(&["127.0.0.1"]))]);
    let core = core_of(&three.config([]));
    let url = format!("https://127.0.0.1:{}/generate_204", web.port(0));
    let response = answer(&core, "last", &url).await;
    assert_eq!(response.status, 204);
    assert!(response.timing.tls.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_a_link_that_fails_is_the_one_that_the_error_names() {
    let web = Nginx::plain();
    let nobody = Port::reserve();
    let first = Microsocks::with_account("ann", "secret");
    let second = Tinyproxy::with_account("bob", "hidden");
    let wrong = json!({ "password": "guess" });
    let right = |tag: &str| first.outbound(tag);
    let core = core([
        socks("dead", nobody.number()),
        through(second.outbound("behind dead"), "dead"),
        right("open"),
        through(with(second.outbound("locked"), wrong.clone()), "open"),
        through(socks("behind locked", 9), "locked"),
        with(right("shut"), wrong),
        through(second.outbound("behind shut"), "shut"),
        through(socks("gone", nobody.number()), "open"),
    ]);
    let expected = [
        ("behind dead", Phase::Dial, Cause::Refused, "refused"),
        ("locked", Phase::Proxy, Cause::ProxyAuth, "`locked`"),
        ("behind locked", Phase::Proxy, Cause::ProxyAuth, "`locked`"),
        ("behind shut", Phase::Proxy, Cause::ProxyAuth, "`shut`"),
        ("gone", Phase::Proxy, Cause::Refused, "`open`"),
    ];
    for (tag, phase, cause, words) in expected {
        let error = failure(&core, tag, &web.url("/generate_204")).await;
        assert_failed(&error, phase, cause, words);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_a_detour_through_a_group_follows_its_selection() {
    let web = Nginx::plain();
    let german = Microsocks::leaving_from(&EXITS[1]);
    let japanese = Tinyproxy::leaving_from(&EXITS[2]);
    let core = core([
        german.outbound("german"),
        japanese.outbound("japanese"),
        json!({ "type": "selector", "tag": "choice", "outbounds": ["german", "japanese"] }),
        json!({ "type": "selector", "tag": "outer", "outbounds": ["choice"] }),
        json!({ "type": "direct", "tag": "by choice", "detour": "outer" }),
    ]);
    for tag in ["outer", "by choice"] {
        assert_eq!(exit(&core, tag, &web).await, &EXITS[1], "{tag}");
    }
    core.select("choice", Network::Tcp, "japanese").unwrap();
    for tag in ["outer", "by choice"] {
        assert_eq!(exit(&core, tag, &web).await, &EXITS[2], "{tag}");
    }
}
