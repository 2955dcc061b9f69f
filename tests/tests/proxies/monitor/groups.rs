//! What groups show: the result of the member that they lead to.

use std::time::Duration;

use outwatch::{Kind, State};
use outwatch_tests::peers::{EXITS, Microsocks, Nginx, Port, Relay, socks};
use serde_json::{Value, json};

use super::world::{shown, start, tested};

fn options(web: &Nginx) -> Value {
    json!({
        "urls": [web.url("/generate_204")], "ipinfo_url": web.url("/ip"),
        "url_test_timeout": "30s", "debounce_window": "50ms",
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn r2_a_selector_shows_all_of_the_member_that_it_leads_to() {
    let web = Nginx::plain();
    let proxy = Microsocks::leaving_from(&EXITS[1]);
    let nobody = Port::reserve();
    let outbounds = [
        json!({ "type": "selector", "tag": "outer", "outbounds": ["inner"] }),
        json!({
            "type": "selector", "tag": "inner", "outbounds": ["dead", "good"], "default": "good",
        }),
        json!({ "type": "selector", "tag": "unlucky", "outbounds": ["dead", "good"] }),
        socks("dead", nobody.number()),
        proxy.outbound("good"),
    ];
    let monitor = start(&outbounds, &options(&web)).await;
    for tag in ["outer", "inner"] {
        let report = shown(&monitor, tag, |report| report.ip.is_some()).await;
        assert_eq!(report.kind, Kind::Group);
        assert_eq!(report.via.as_deref(), Some("good"), "{report:#?}");
        assert_eq!(report.state, State::Ok, "{report:#?}");
        assert!(report.delay_ms.is_some(), "{report:#?}");
        let ip = report.ip.as_ref().map(|ip| ip.ip.as_str());
        assert_eq!(ip, Some(EXITS[1].address), "{report:#?}");
    }
    let report = tested(&monitor, "unlucky").await;
    assert_eq!(report.state, State::Failed, "{report:#?}");
    assert_eq!(report.via.as_deref(), Some("dead"), "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r2_a_group_without_a_selection_shows_its_best_member() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let slow = Relay::slow(proxy.port(), Duration::from_secs(2));
    let nobody = Port::reserve();
    let outbounds = [
        json!({ "type": "urltest", "tag": "best", "outbounds": ["dead", "slow", "fast"] }),
        socks("dead", nobody.number()),
        socks("slow", slow.port()),
        proxy.outbound("fast"),
    ];
    let monitor = start(&outbounds, &options(&web)).await;
    for tag in ["dead", "slow", "fast"] {
        tested(&monitor, tag).await;
    }
    let by_fast = |report: &outwatch::Report| report.via.as_deref() == Some("fast");
    let report = shown(&monitor, "best", by_fast).await;
    assert_eq!(report.state, State::Ok, "{report:#?}");
}
