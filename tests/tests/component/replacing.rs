//! Another component in the place of the one that runs: nobody notices, and it is all or
//! nothing.

mod failing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use outwatch::{
    Cache, ErrorKind, MemoryCache, Monitor, ReplaceError, Report, Scope, StartError, State, Update,
    View,
};
use outwatch_tests::engines::{another, guest};
use outwatch_tests::stub::{Behaviour, Stub, answers, refuses};

use super::world::{describe, next, pass, start, start_paused, wait_for_all};

const MINUTE: Duration = Duration::from_secs(60);
const QUIET: &str = r#"{"ip_lookup": false, "idle_timeout": "1d"}"#;

/// What a report says, without its age.
fn timeless(reports: Vec<Report>) -> Vec<Report> {
    let timeless = |mut report: Report| {
        report.age_ms = None;
        report
    };
    reports.into_iter().map(timeless).collect()
}

async fn confirmed(monitor: &Monitor) -> Vec<Report> {
    timeless(monitor.reports(View::Confirmed).await)
}

/// Everything that comes without waiting for anything to happen.
async fn pending(updates: &mut outwatch::Updates) -> Vec<Update> {
    let mut all = Vec::new();
    while let Ok(Some(update)) =
        tokio::time::timeout(Duration::from_millis(50), updates.next()).await
    {
        all.push(update);
    }
    all
}

/// A core with one that works, one that fails, one that has an address, a group of each
/// kind, and a saved result that no run has confirmed.
fn mixed(doing: &str) -> Stub {
    let stub = Stub::with([
        (format!("guest: {doing}"), answers(10)),
        ("b".into(), refuses(5)),
    ]);
    stub.set_ip(&format!("guest: {doing}"), "1.1.1.1", "NL");
    stub.add_group("choice", &["b"], Some("b"));
    stub.add_group("best", &[&format!("guest: {doing}"), "b"], None);
    stub
}

#[tokio::test(start_paused = true)]
async fn r7_every_report_and_the_measurements_behind_it_are_after_a_replacement_what_they_were() {
    let stub = mixed("nothing");
    let monitor = start(&stub, r#"{"idle_timeout": "1d"}"#).await;
    wait_for_all(&monitor).await;
    pass(11 * MINUTE).await;
    let before = confirmed(&monitor).await;
    let tags = || vec!["guest: nothing".to_owned(), "b".into(), "choice".into()];
    let measured = monitor.measurements(tags()).await;
    for (nth, at_ms) in [0, 300_000, 600_000].into_iter().enumerate() {
        let after = |which: usize| measured[which][nth].at.duration_since(measured[0][0].at);
        assert!(after(0).as_millis().abs_diff(at_ms) <= 1000, "{measured:?}");
        assert_eq!(measured[0][nth].delay_ms, Some(10));
        assert_eq!(measured[1][nth].delay_ms, None);
        assert_eq!(measured[1][nth].error, Some(ErrorKind::DialRefused));
    }
    assert_eq!(measured[2], [], "a group is not measured");
    assert!(
        before
            .iter()
            .any(|report| report.stats.count == 3 && report.ip.is_some())
    );
    assert!(before.iter().any(|report| report.state == State::Failed));
    let replaced = monitor.replace_component(another()).await.expect("another");
    assert_eq!(replaced.before().sha256(), crate::engine().sha256());
    assert_eq!(monitor.component().sha256(), another().sha256());
    assert_eq!(confirmed(&monitor).await, before);
    assert_eq!(monitor.measurements(tags()).await, measured);
    replaced.stood_its_trial().await.expect("a good minute");
    let tests = stub.tests().len();
    pass(5 * MINUTE).await;
    assert_eq!(
        stub.tests().len(),
        tests + 2,
        "the cycle goes on in its beat"
    );
}

#[tokio::test(start_paused = true)]
async fn r4_watchers_hear_nothing_of_it_and_then_of_what_is_new_with_growing_revisions() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    stub.add_group("g", &["a", "b"], Some("a"));
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    let mut last: BTreeMap<String, u64> = BTreeMap::new();
    let mut watchers = Vec::new();
    for view in [View::Confirmed, View::Display] {
        for scope in [Scope::All, Scope::Tag("g".into()), Scope::Group("g".into())] {
            watchers.push(monitor.subscribe(scope, view));
        }
    }
    for watcher in &mut watchers {
        for update in pending(watcher).await {
            last.extend(
                update
                    .reports
                    .into_iter()
                    .map(|one| (one.tag, one.revision)),
            );
        }
    }
    for _ in 0..3 {
        monitor.replace_component(another()).await.expect("another");
        for watcher in &mut watchers {
            assert_eq!(pending(watcher).await, [], "no repeat, no flicker");
        }
    }
    stub.set("a", answers(30));
    monitor.test("a").await.unwrap();
    let update = next(&mut watchers[0]).await;
    let tags: Vec<_> = update
        .reports
        .iter()
        .map(|report| report.tag.as_str())
        .collect();
    assert_eq!(tags, ["a", "g"]);
    assert!(
        update
            .reports
            .iter()
            .all(|report| report.revision > last[&report.tag])
    );
}

#[tokio::test(start_paused = true)]
async fn r4_what_a_slow_watcher_had_not_taken_comes_from_the_new_one() {
    let stub = Stub::with([("a", answers(10))]);
    let monitor = start(&stub, QUIET).await;
    let mut watcher = monitor.subscribe(Scope::All, View::Confirmed);
    next(&mut watcher).await;
    pass(Duration::from_secs(1)).await;
    // Two updates wait on the way to it; a third is with the engine.
    for ms in [20, 30, 40, 50] {
        stub.set("a", answers(ms));
        monitor.test("a").await.unwrap();
    }
    monitor.replace_component(another()).await.expect("another");
    let delays: Vec<_> = pending(&mut watcher)
        .await
        .into_iter()
        .map(|update| update.reports[0].delay_ms)
        .collect();
    assert_eq!(delays.last(), Some(&Some(50)), "{delays:?}");
    assert!(delays.is_sorted_by(|a, b| a < b), "{delays:?}");
}

#[tokio::test(start_paused = true)]
async fn r4_an_outbound_that_goes_in_that_moment_is_told_to_be_gone() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    let mut all = monitor.subscribe(Scope::All, View::Confirmed);
    let mut one = monitor.subscribe(Scope::Tag("b".into()), View::Confirmed);
    next(&mut all).await;
    next(&mut one).await;
    stub.remove("b");
    monitor.replace_component(another()).await.expect("another");
    for watcher in [&mut all, &mut one] {
        let update = next(watcher).await;
        assert_eq!(update.removed, ["b"]);
        assert_eq!(update.reports, []);
    }
    monitor.outbounds_changed();
    assert_eq!(pending(&mut all).await, []);
}

#[tokio::test(start_paused = true)]
async fn s10_one_who_waits_for_a_test_is_answered_by_the_new_one() {
    let stub = Stub::with([("a", Behaviour::Silent)]);
    let monitor = start_paused(&stub).await;
    let asking = monitor.clone();
    let answer = tokio::spawn(async move { asking.test("a").await });
    while stub.fetches().is_empty() {
        tokio::task::yield_now().await;
    }
    stub.set("a", answers(30));
    monitor.replace_component(another()).await.expect("another");
    let report = answer.await.unwrap().expect("a report");
    assert_eq!((report.state, report.delay_ms), (State::Ok, Some(30)));
    assert_eq!(stub.tests(), ["a", "a"], "the test in flight ran again");
    assert_eq!(stub.dropped(), 1);
}

#[tokio::test(start_paused = true)]
async fn n5_a_paused_monitor_stays_paused() {
    let stub = Stub::with([("a", answers(10))]);
    let monitor = start_paused(&stub).await;
    monitor.replace_component(another()).await.expect("another");
    pass(7 * MINUTE).await;
    assert_eq!(stub.tests(), [""; 0]);
    monitor.resume();
    wait_for_all(&monitor).await;
}

#[tokio::test(start_paused = true)]
async fn p3_stopping_within_the_first_minute_saves() {
    let cache = Arc::new(MemoryCache::new());
    let stub = Stub::with([("a", answers(10))]);
    let monitor = describe(&stub, QUIET)
        .cache(cache.clone())
        .paused()
        .start()
        .await
        .unwrap();
    let replaced = monitor.replace_component(another()).await.expect("another");
    monitor.test("a").await.unwrap();
    monitor.stop().await.unwrap();
    assert_eq!(cache.keys().unwrap().len(), 1);
    replaced.stood_its_trial().await.expect("it ended in order");
    let error = monitor.replace_component(another()).await.unwrap_err();
    assert!(matches!(error, ReplaceError::Stopped), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_takes_nothing_over_is_heard_with_revisions_that_grow() {
    let stub = mixed("nothing");
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    let highest = confirmed(&monitor)
        .await
        .into_iter()
        .map(|one| one.revision)
        .max();
    let mut watcher = monitor.subscribe(Scope::All, View::Confirmed);
    next(&mut watcher).await;
    monitor.replace_component(guest()).await.expect("it starts");
    let update = next(&mut watcher).await;
    assert!(
        update
            .reports
            .iter()
            .all(|report| Some(report.revision) > highest)
    );
}
