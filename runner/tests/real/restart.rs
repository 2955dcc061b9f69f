//! `outwatch run`, killed and started again: what it remembers, and what it tests
//! first.

use std::time::Duration;

use outwatch_tests::peers::{EXITS, Microsocks, Nginx, Port, Relay, socks};
use serde_json::{Value, json};

use crate::process::{Running, Scene};

/// Tags in the order in which their tests begin.
fn order_of_tests(running: &mut Running, count: usize) -> Vec<String> {
    let first_of = |_| {
        let line = running.until_logged("event=test ");
        let (_, rest) = line.split_once("tag=\"").expect("a tag");
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    (0..count).map(first_of).collect()
}

#[test]
fn p1_after_kill_9_results_are_back_marked_as_loaded_and_the_fastest_is_tested_first() {
    let web = Nginx::plain();
    let proxy = Microsocks::leaving_from(&EXITS[1]);
    let slow = Relay::slow(proxy.port(), Duration::from_secs(1));
    let slower = Relay::slow(proxy.port(), Duration::from_secs(2));
    let nobody = Port::reserve();
    let scene = Scene::new(&json!({
        "outbounds": [
            socks("slower", slower.port()),
            socks("dead", nobody.number()),
            socks("slow", slow.port()),
            proxy.outbound("fast"),
        ],
        "experimental": { "monitoring": {
            "urls": [web.url("/generate_204")],
            "ipinfo_url": web.url("/ip"),
            "url_test_timeout": "30s",
            "interval": "1h",
            // One at a time, so that the log shows the order.
            "workers": 1,
        } },
    }));

    let mut first = scene.run();
    let order = order_of_tests(&mut first, 4);
    assert_eq!(order, ["slower", "dead", "slow", "fast"]);
    // The dead one leaves nothing to save (P-1).
    scene.wait_until_saved(3, EXITS[1].address);
    first.kill();

    let mut second = scene.run();
    // They are tested after the fastest and take a second each, so their loaded
    // results are seen first.
    let mut loaded: Vec<String> = Vec::new();
    while !["slow", "slower"]
        .iter()
        .all(|tag| loaded.iter().any(|seen| seen == tag))
    {
        let report = second.until_report("loaded results", |report| report["from_cache"] == true);
        assert_eq!(report["state"], "cached", "{report:#}");
        assert_eq!(report["ip"]["ip"], EXITS[1].address, "{report:#}");
        assert_eq!(report["ip_from_cache"], true, "{report:#}");
        loaded.extend(report["tag"].as_str().map(str::to_owned));
    }
    let order = order_of_tests(&mut second, 4);
    assert_eq!(order, ["fast", "slow", "slower", "dead"]);
    let confirmed = |report: &Value| {
        report["tag"] == "slower"
            && report["from_cache"] == false
            && report["ip_from_cache"] == false
    };
    let report = second.until_report("a confirmed result", confirmed);
    assert_eq!(report["state"], "ok", "{report:#}");
    assert_eq!(report["ip"]["ip"], EXITS[1].address, "{report:#}");
}
