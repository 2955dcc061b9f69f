//! Updates as subscribers get them.

use std::time::Duration;

use outwatch::{Scope, State, TestError, View};
use outwatch_tests::stub::{Behaviour, Stub, answers};

use super::world::{next, pass, start, start_paused, wait_for_all};

#[tokio::test(start_paused = true)]
async fn r4_a_burst_is_one_update_and_the_first_holds_the_current_state() {
    let stub = Stub::with((0..30).map(|i| (format!("out-{i}"), answers(10 + i))));
    let monitor = start(&stub, r#"{"workers": 30, "ip_lookup": false}"#).await;
    let mut updates = monitor.subscribe(Scope::All, View::Confirmed);
    let first = next(&mut updates).await;
    assert_eq!(first.reports.len(), 30);
    assert!(
        first
            .reports
            .iter()
            .all(|report| report.state == State::Untested)
    );
    let burst = next(&mut updates).await;
    assert_eq!(
        burst.reports.len(),
        30,
        "all of the cycle within one window"
    );
    assert!(burst.reports.iter().all(|report| report.state == State::Ok));
    assert!(!burst.urgent);
}

#[tokio::test(start_paused = true)]
async fn r4_a_member_reaches_the_subscribers_of_every_group_around_it_and_no_other() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20)), ("c", answers(30))]);
    stub.add_group("inner", &["a"], None);
    stub.add_group("outer", &["inner", "b"], None);
    let monitor = start(&stub, r#"{"ip_lookup": false}"#).await;
    wait_for_all(&monitor).await;
    let mut updates = monitor.subscribe(Scope::Group("outer".into()), View::Confirmed);
    let mut tags: Vec<_> = next(&mut updates)
        .await
        .reports
        .into_iter()
        .map(|report| report.tag)
        .collect();
    tags.sort();
    assert_eq!(tags, ["a", "b", "inner", "outer"]);
}

#[tokio::test(start_paused = true)]
async fn r4_a_reader_that_is_slow_gets_the_last_state_and_no_repeat() {
    let stub = Stub::with([("a", answers(10))]);
    let options = r#"{"interval": "1s", "idle_timeout": "1d", "ip_lookup": false}"#;
    let monitor = start(&stub, options).await;
    let mut updates = monitor.subscribe(Scope::All, View::Confirmed);
    next(&mut updates).await;
    for ms in 11..61 {
        stub.set("a", answers(ms));
        pass(Duration::from_secs(1)).await;
    }
    stub.set("a", Behaviour::Silent);
    let mut revisions = Vec::new();
    let mut last = None;
    while last != Some(60) {
        let report = next(&mut updates).await.reports.remove(0);
        revisions.push(report.revision);
        last = report.delay_ms;
    }
    assert!(revisions.is_sorted_by(|a, b| a < b), "{revisions:?}");
    assert!(
        revisions.len() < 10,
        "states in between were dropped, not queued: {revisions:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn one_who_went_away_leaves_the_others_undisturbed() {
    let stub = Stub::with([("a", answers(10))]);
    let monitor = start_paused(&stub).await;
    let mut gone = monitor.subscribe(Scope::All, View::Confirmed);
    let mut stays = monitor.subscribe(Scope::All, View::Confirmed);
    next(&mut gone).await;
    next(&mut stays).await;
    drop(gone);
    for ms in [20, 30, 40] {
        stub.set("a", answers(ms));
        monitor.test("a").await.unwrap();
        let update = next(&mut stays).await;
        assert_eq!(update.reports[0].delay_ms, Some(u32::try_from(ms).unwrap()));
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_streams_and_answers_those_who_wait() {
    let stub = Stub::with([("a", Behaviour::Silent)]);
    let monitor = start_paused(&stub).await;
    let mut updates = monitor.subscribe(Scope::All, View::Confirmed);
    next(&mut updates).await;
    let asked = monitor.clone();
    let answer = tokio::spawn(async move { asked.test("a").await });
    while stub.fetches().is_empty() {
        tokio::task::yield_now().await;
    }
    monitor.stop().await.unwrap();
    assert_eq!(answer.await.unwrap(), Err(TestError::Stopped));
    while updates.next().await.is_some() {}
    assert_eq!(monitor.test("a").await, Err(TestError::Stopped));
    assert_eq!(stub.dropped(), 1, "the exchange is given up");
    monitor.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn stopping_hands_over_what_is_still_pending() {
    let stub = Stub::with([("a", answers(10))]);
    let monitor = start(&stub, r#"{"ip_lookup": false}"#).await;
    let mut updates = monitor.subscribe(Scope::All, View::Confirmed);
    next(&mut updates).await;
    // The answer waits in its window of 500 ms.
    pass(Duration::from_millis(100)).await;
    let (stopped, last) = tokio::join!(monitor.stop(), updates.next());
    stopped.unwrap();
    assert_eq!(last.expect("an update").reports[0].delay_ms, Some(10));
    assert!(updates.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_stops_the_monitor() {
    let stub = Stub::with([("a", Behaviour::Silent)]);
    let monitor = start(&stub, "").await;
    let mut updates = monitor.subscribe(Scope::All, View::Confirmed);
    next(&mut updates).await;
    drop(monitor);
    while updates.next().await.is_some() {}
}
