//! Results that outlive the process, in a real file.

use std::path::Path;

use outwatch::{FileCache, Monitor, State, View};
use outwatch_tests::peers::{EXITS, Microsocks, Nginx, Port, socks};
use serde_json::{Value, json};

use super::world::{describe, shown, tested};

fn options(web: &Nginx) -> Value {
    json!({
        "urls": [web.url("/generate_204")], "ipinfo_url": web.url("/ip"),
        "url_test_timeout": "30s", "on_demand_timeouts": ["30s"],
    })
}

/// A run that tests nothing but what it is asked for.
async fn paused(outbounds: &[Value], options: &Value, file: &Path) -> Monitor {
    let cache = FileCache::open(file).expect("a file that the last run has left");
    let monitor = describe(outbounds, options).cache(cache).paused();
    monitor.start().await.expect("a monitor")
}

#[tokio::test(flavor = "multi_thread")]
async fn p1_the_next_run_knows_the_last_success_and_marks_it_as_loaded() {
    let web = Nginx::plain();
    let proxy = Microsocks::leaving_from(&EXITS[1]);
    let nobody = Port::reserve();
    let outbounds = [proxy.outbound("good"), socks("dead", nobody.number())];
    let options = options(&web);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.redb");

    let cache = FileCache::open(&file).unwrap();
    let first = describe(&outbounds, &options).cache(cache);
    let first = first.start().await.unwrap();
    let before = shown(&first, "good", |report| report.ip.is_some()).await;
    assert_eq!(tested(&first, "dead").await.state, State::Failed);
    first.stop().await.unwrap();

    let second = paused(&outbounds, &options, &file).await;
    let loaded = second.report("good", View::Display).await.unwrap();
    assert_eq!(loaded.state, State::Cached, "{loaded:#?}");
    assert!(loaded.from_cache && loaded.ip_from_cache, "{loaded:#?}");
    assert_eq!(loaded.delay_ms, before.delay_ms);
    assert_eq!(loaded.ip, before.ip);
    assert_eq!(loaded.tested_at, before.tested_at);
    let dead = second.report("dead", View::Display).await.unwrap();
    assert_eq!((dead.state, dead.error), (State::Untested, None));

    let confirmed = second.test("good").await.unwrap();
    assert_eq!(confirmed.state, State::Ok, "{confirmed:#?}");
    assert!(!confirmed.from_cache, "{confirmed:#?}");
    let confirmed = shown(&second, "good", |report| !report.ip_from_cache).await;
    assert_eq!(confirmed.ip, before.ip);
    second.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn p2_a_tag_that_another_server_has_now_inherits_nothing() {
    let web = Nginx::plain();
    let old = Microsocks::start();
    let new = Microsocks::start();
    let options = options(&web);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.redb");

    let first = paused(&[old.outbound("proxy")], &options, &file).await;
    assert_eq!(first.test("proxy").await.unwrap().state, State::Ok);
    first.stop().await.unwrap();

    let second = paused(&[new.outbound("proxy")], &options, &file).await;
    let report = second.report("proxy", View::Display).await.unwrap();
    assert_eq!(report.state, State::Untested, "{report:#?}");
    second.stop().await.unwrap();

    let third = paused(&[old.outbound("proxy")], &options, &file).await;
    let report = third.report("proxy", View::Display).await.unwrap();
    assert_eq!(report.state, State::Cached, "{report:#?}");
    third.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn i6_a_failed_test_leaves_the_loaded_ip_marked_as_loaded() {
    let web = Nginx::plain();
    let proxy = Microsocks::leaving_from(&EXITS[1]);
    let outbounds = [proxy.outbound("proxy")];
    let mut options = options(&web);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.redb");

    let first = paused(&outbounds, &options, &file).await;
    first.test("proxy").await.unwrap();
    let before = shown(&first, "proxy", |report| report.ip.is_some()).await;
    first.stop().await.unwrap();
    drop(proxy);

    options["on_demand_timeouts"] = json!(["2s"]);
    let second = paused(&outbounds, &options, &file).await;
    let failed = second.test("proxy").await.unwrap();
    assert_eq!(failed.state, State::Failed, "{failed:#?}");
    assert_eq!(failed.ip, before.ip);
    assert!(failed.ip_from_cache, "{failed:#?}");
    second.stop().await.unwrap();
}
