//! What a host tells the component, and what comes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use outwatch::{Fault, Monitor, Outbound, Readiness, Reason, State, View};
use outwatch_tests::stub::{Stub, answers, refuses};

use super::world::{describe, pass, start, wait_for, wait_for_all};

const QUIET: &str = r#"{"ip_lookup": false}"#;

#[tokio::test(start_paused = true)]
async fn e1_a_new_selection_is_tested_at_once() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    stub.add_group("choice", &["a", "b"], Some("a"));
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    // Past the 15 s in which a fresh success is taken for good (E-2).
    pass(Duration::from_secs(20)).await;
    stub.select("choice", "b");
    monitor.selection_changed("choice");
    let switched = |report: &outwatch::Report| report.reason == Some(Reason::Switched);
    let report = wait_for(&monitor, View::Confirmed, "choice", switched).await;
    assert_eq!(
        (report.via.as_deref(), report.delay_ms),
        (Some("b"), Some(20))
    );
}

/// Nobody tells that the device slept; nothing is due for minutes.
#[tokio::test(start_paused = true)]
async fn c6_eight_hours_of_sleep_are_noticed_at_once_and_make_one_cycle() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    let asleep = Arc::new(AtomicU64::new(0));
    let (wall, hours) = (stub.wall_clock(), asleep.clone());
    let wall = move || wall() + Duration::from_secs(3600 * hours.load(SeqCst));
    let monitor = describe(&stub, QUIET).wall_clock(wall);
    let monitor = monitor.start().await.expect("a monitor");
    wait_for_all(&monitor).await;
    pass(Duration::from_secs(60)).await;
    asleep.store(8, SeqCst);
    pass(Duration::from_secs(15)).await;
    assert_eq!(stub.tests(), ["a", "b", "a", "b"]);
    pass(Duration::from_secs(200)).await;
    assert_eq!(stub.tests().len(), 4, "missed cycles are not caught up");
    let report = monitor.report("a", View::Confirmed).await;
    let reason = report.and_then(|report| report.reason);
    assert_eq!(reason, Some(Reason::Resume));
}

#[tokio::test(start_paused = true)]
async fn e6_a_thousand_failed_connections_make_one_test() {
    let stub = Stub::with([("a", answers(10))]);
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    stub.set("a", refuses(50));
    for _ in 0..1000 {
        monitor.connection_failed("a", Some("balancer".into()), Fault::Outbound);
    }
    let report = wait_for(&monitor, View::Confirmed, "a", |r| r.state == State::Failed).await;
    assert_eq!(report.reason, Some(Reason::ConnectionFailed));
    assert_eq!(stub.tests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn e8_a_failure_of_the_destination_or_the_client_tests_nothing() {
    let stub = Stub::with([("a", answers(10))]);
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    monitor.connection_failed("a", None, Fault::Destination);
    monitor.connection_failed("a", None, Fault::Client);
    pass(Duration::from_secs(60)).await;
    assert_eq!(stub.tests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn e4_a_change_of_the_network_tests_everything_again_after_two_quiet_seconds() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    let before = stub.fetches().last().expect("a fetch").at;
    monitor.network_changed();
    pass(Duration::from_secs(1)).await;
    monitor.network_changed();
    pass(Duration::from_secs(10)).await;
    let again = &stub.fetches()[2..];
    assert_eq!(again.len(), 2);
    assert!(
        again
            .iter()
            .all(|fetch| fetch.at - before >= Duration::from_secs(3))
    );
}

#[tokio::test(start_paused = true)]
async fn e1_an_outbound_that_became_ready_is_tested_at_once() {
    let stub = Stub::with([("a", answers(10))]);
    stub.set_status("a", Readiness::NotReady("connecting".into()));
    let monitor = start(&stub, QUIET).await;
    wait_for(&monitor, View::Confirmed, "a", |r| {
        r.state == State::NotReady
    })
    .await;
    stub.set_status("a", Readiness::Ready);
    monitor.outbound_ready("a");
    let report = wait_for(&monitor, View::Confirmed, "a", |r| r.state == State::Ok).await;
    assert_eq!(report.reason, Some(Reason::Ready));
    assert_eq!(report.status_text, None);
}

#[tokio::test(start_paused = true)]
async fn an_outbound_that_comes_later_is_tested_and_one_that_goes_is_told() {
    let stub = Stub::with([("a", answers(10))]);
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    stub.add(Outbound::new("b", "stub"), answers(30));
    monitor.outbounds_changed();
    wait_for(&monitor, View::Confirmed, "b", |r| r.state == State::Ok).await;

    let mut updates = monitor.subscribe(outwatch::Scope::All, View::Confirmed);
    super::world::next(&mut updates).await;
    stub.remove("a");
    monitor.outbounds_changed();
    let update = super::world::next(&mut updates).await;
    assert_eq!(update.removed, ["a"]);
    assert_eq!(monitor.report("a", View::Confirmed).await, None);
}

#[tokio::test(start_paused = true)]
async fn n5_a_pause_tests_nothing_but_what_is_asked_for_and_a_resume_tests_all() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    monitor.pause();
    pass(Duration::from_secs(3600)).await;
    assert_eq!(stub.tests().len(), 2);
    monitor.test("a").await.unwrap();
    assert_eq!(stub.tests().len(), 3);
    monitor.activity();
    monitor.resume();
    pass(Duration::from_secs(10)).await;
    assert_eq!(stub.tests().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_core_can_be_shared_with_the_monitor() {
    let core = Arc::new(Stub::with([("a", answers(10))]));
    let monitor = Monitor::builder(core.clone())
        .options(QUIET)
        .start()
        .await
        .unwrap();
    wait_for_all(&monitor).await;
    assert_eq!(core.tests(), ["a"]);
}
