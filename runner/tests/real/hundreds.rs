//! `outwatch test` on hundreds of outbounds through one real SOCKS server.

use outwatch_tests::peers::{EXITS, Manners, Microsocks, Nginx, Port, Rude, socks, with};
use serde_json::{Value, json};

use crate::process::{Scene, complaints};

/// How many work.
const GOOD: usize = 200;

#[test]
fn t4_two_hundred_outbounds_show_two_hundred_delays_and_the_bad_ones_why() {
    let web = Nginx::plain();
    let open = Microsocks::leaving_from(&EXITS[1]);
    let locked = Microsocks::with_account("ann", "secret");
    let nobody = Port::reserve();
    let hangs = Rude::start(Manners::Hangs);
    let mut outbounds: Vec<Value> = (0..GOOD)
        .map(|number| open.outbound(&format!("node {number}")))
        .collect();
    outbounds.insert(50, socks("dead", nobody.number()));
    outbounds.insert(100, socks("hangs", hangs.port()));
    let wrong = json!({ "password": "guess" });
    outbounds.insert(150, with(locked.outbound("locked"), wrong));
    let scene = Scene::new(&json!({
        "outbounds": outbounds,
        "experimental": { "monitoring": {
            "urls": [web.url("/generate_204")],
            "ipinfo_url": web.url("/ip"),
            "on_demand_timeouts": ["2s", "4s", "20s"],
            "url_test_timeout": "20s",
        } },
    }));

    let tested = scene.test();

    let complaints = complaints(&tested.logged);
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert_eq!(tested.code, Some(0));
    let reports = tested.reports;
    assert_eq!(reports.len(), GOOD + 3);
    let find = |tag: &str| -> &Value {
        let found = reports.iter().find(|report| report["tag"] == tag);
        found.unwrap_or_else(|| panic!("no report of `{tag}`"))
    };
    for number in 0..GOOD {
        let report = find(&format!("node {number}"));
        assert_eq!(report["state"], "ok", "{report:#}");
        assert!(report["delay_ms"].as_u64() >= Some(1), "{report:#}");
        assert_eq!(report["ip"]["ip"], EXITS[1].address, "{report:#}");
        assert_eq!(report["ip"]["country_code"], EXITS[1].country, "{report:#}");
        assert_eq!(report["ip"]["asn"], EXITS[1].asn, "{report:#}");
    }
    let expected = [
        ("dead", "dial_refused"),
        ("hangs", "timeout"),
        ("locked", "proxy_auth"),
    ];
    for (tag, kind) in expected {
        let report = find(tag);
        assert_eq!(report["state"], "failed", "{report:#}");
        assert_eq!(report["error"]["kind"], kind, "{report:#}");
        assert_eq!(report["delay_ms"], Value::Null, "{report:#}");
    }
}
