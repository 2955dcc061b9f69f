//! Tests that someone asks for: `Monitor::test` with real servers.

use outwatch::{ErrorKind, State, TestError};
use outwatch_tests::peers::{Manners, Microsocks, Nginx, Port, Rude, Tinyproxy, socks};
use serde_json::{Value, json};

use super::world::describe;

/// Nothing but what is asked for is tested, with marks that are quickly over.
fn options(web: &Nginx) -> Value {
    json!({
        "urls": [web.url("/generate_204")], "ip_lookup": false,
        "on_demand_timeouts": ["300ms", "600ms", "3s"],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn s5_a_test_that_is_asked_for_answers_with_the_delay() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let mut options = options(&web);
    options["on_demand_timeouts"] = json!(["30s"]);
    let monitor = describe(&[proxy.outbound("proxy")], &options).paused();
    let monitor = monitor.start().await.unwrap();
    let report = monitor.test("proxy").await.unwrap();
    assert_eq!(report.state, State::Ok, "{report:#?}");
    assert!(report.delay_ms >= Some(1), "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s2_a_refused_test_is_tried_at_every_mark_but_the_last() {
    let web = Nginx::plain();
    let nobody = Port::reserve();
    let locked = Tinyproxy::with_account("ann", "secret");
    let outbounds = [
        socks("dead", nobody.number()),
        outwatch_tests::peers::http("locked", locked.port()),
    ];
    let monitor = describe(&outbounds, &options(&web)).paused();
    let monitor = monitor.start().await.unwrap();
    let expected = [
        ("dead", ErrorKind::DialRefused),
        ("locked", ErrorKind::ProxyAuth),
    ];
    for (tag, kind) in expected {
        let report = monitor.test(tag).await.unwrap();
        assert_eq!(report.state, State::Failed, "{report:#?}");
        let error = report.error.as_ref().map(|error| error.kind);
        assert_eq!(error, Some(kind), "{report:#?}");
        assert_eq!(report.attempts, 3, "{report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s6_a_silent_proxy_is_left_to_answer_until_the_deadline() {
    let web = Nginx::plain();
    let hangs = Rude::start(Manners::Hangs);
    let monitor = describe(&[socks("hangs", hangs.port())], &options(&web)).paused();
    let monitor = monitor.start().await.unwrap();
    let report = monitor.test("hangs").await.unwrap();
    let error = report.error.as_ref().map(|error| error.kind);
    assert_eq!(error, Some(ErrorKind::Timeout), "{report:#?}");
    assert_eq!(report.attempts, 1, "{report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s9_asking_for_a_group_tests_each_of_its_leaves() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let nobody = Port::reserve();
    let outbounds = [
        json!({ "type": "urltest", "tag": "best", "outbounds": ["dead", "good"] }),
        socks("dead", nobody.number()),
        proxy.outbound("good"),
    ];
    let monitor = describe(&outbounds, &options(&web)).paused();
    let monitor = monitor.start().await.unwrap();
    let report = monitor.test("best").await.unwrap();
    assert_eq!(report.state, State::Ok, "{report:#?}");
    assert_eq!(report.via.as_deref(), Some("good"), "{report:#?}");
    let view = outwatch::View::Confirmed;
    let dead = monitor.report("dead", view).await.unwrap();
    assert_eq!(dead.state, State::Failed, "{dead:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s9_a_tag_that_nobody_has_is_an_error() {
    let web = Nginx::plain();
    let direct = json!({ "type": "direct", "tag": "direct" });
    let monitor = describe(&[direct], &options(&web)).paused();
    let monitor = monitor.start().await.unwrap();
    assert_eq!(monitor.test("nobody").await, Err(TestError::UnknownTag));
}
