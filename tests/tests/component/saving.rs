//! Results across a restart.

use std::sync::Arc;

use outwatch::store::{Cache, CacheError, MemoryCache};
use outwatch::{Outbound, State, View};
use outwatch_tests::stub::{Stub, answers, refuses};

use super::world::{describe, wait_for_all};

/// A cache that nothing can be done with.
struct Broken;

impl Cache for Broken {
    fn get(&self, _: &str) -> Result<Option<Vec<u8>>, CacheError> {
        Err(broken())
    }
    fn get_prefix(&self, _: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        Err(broken())
    }
    fn set(&self, _: &str, _: &[u8]) -> Result<(), CacheError> {
        Err(broken())
    }
    fn delete(&self, _: &str) -> Result<(), CacheError> {
        Err(broken())
    }
    fn keys(&self) -> Result<Vec<String>, CacheError> {
        Err(broken())
    }
    fn update(&self, _: &[String], _: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        Err(broken())
    }
}

fn broken() -> CacheError {
    CacheError::Unavailable("the disk is gone".into())
}

fn core(fast: u64, slow: u64) -> Stub {
    let stub = Stub::default();
    for (tag, ms) in [("slow", slow), ("fast", fast)] {
        let outbound = Outbound {
            fingerprint: format!("{tag}.example:1"),
            ..Outbound::new(tag, "stub")
        };
        stub.add(outbound, answers(ms));
        stub.set_ip(tag, "1.1.1.1", "NL");
    }
    stub
}

/// What a run over the core leaves in the cache.
async fn after_a_run() -> Arc<MemoryCache> {
    let cache = Arc::new(MemoryCache::default());
    let builder = describe(&core(20, 90), "").cache(cache.clone());
    let monitor = builder.start().await.expect("a monitor");
    wait_for_all(&monitor).await;
    monitor.stop().await.expect("an end");
    cache
}

#[tokio::test(start_paused = true)]
async fn p1_results_come_back_marked_and_the_fastest_is_tested_first() {
    let cache = after_a_run().await;

    let stub = core(20, 90);
    let second = describe(&stub, r#"{"workers": 1}"#)
        .cache(cache)
        .paused()
        .start()
        .await
        .unwrap();
    let report = second.report("fast", View::Confirmed).await.unwrap();
    assert_eq!((report.state, report.delay_ms), (State::Cached, Some(20)));
    assert!(report.from_cache, "R-5");
    assert!(
        report.ip_from_cache,
        "I-6: its exit is known, but not confirmed"
    );
    assert_eq!(report.ip.expect("an address").ip, "1.1.1.1");
    second.resume();
    wait_for_all(&second).await;
    assert_eq!(
        stub.tests(),
        ["fast", "slow"],
        "C-2, although it stands second in the config"
    );
}

#[tokio::test(start_paused = true)]
async fn p2_another_server_under_the_same_tag_inherits_nothing() {
    let cache = after_a_run().await;

    let stub = Stub::default();
    let moved = Outbound {
        fingerprint: "elsewhere.example:1".into(),
        ..Outbound::new("fast", "stub")
    };
    stub.add(moved, answers(5));
    let second = describe(&stub, "")
        .cache(cache)
        .paused()
        .start()
        .await
        .unwrap();
    let report = second.report("fast", View::Confirmed).await.unwrap();
    assert_eq!((report.state, report.ip), (State::Untested, None));
}

#[tokio::test(start_paused = true)]
async fn p1_a_failure_is_not_saved_over_the_last_success() {
    let cache = Arc::new(MemoryCache::default());
    let stub = core(20, 90);
    let first = describe(&stub, "")
        .cache(cache.clone())
        .start()
        .await
        .unwrap();
    wait_for_all(&first).await;
    stub.set("fast", refuses(5));
    let report = first.test("fast").await.unwrap();
    assert_eq!(report.state, State::Failed);
    first.stop().await.unwrap();

    let second = describe(&core(20, 90), "")
        .cache(cache)
        .paused()
        .start()
        .await
        .unwrap();
    let report = second.report("fast", View::Confirmed).await.unwrap();
    assert_eq!(
        (report.state, report.delay_ms, report.error),
        (State::Cached, Some(20), None)
    );
}

#[tokio::test(start_paused = true)]
async fn p3_a_cache_that_fails_never_stops_monitoring() {
    let stub = core(20, 90);
    let monitor = describe(&stub, "").cache(Broken).start().await.unwrap();
    let reports = wait_for_all(&monitor).await;
    assert!(reports.iter().all(|report| report.state == State::Ok));
    monitor.stop().await.unwrap();
}
