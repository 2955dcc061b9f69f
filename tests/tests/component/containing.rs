//! Guests that do wrong: the host stays responsive, keeps them within limits, and says
//! what happened.

use std::time::Duration;

use outwatch::{Builder, Fault, Limits, Monitor, Scope, StartError, StopError, TestError, View};
use outwatch_tests::engines::guest;
use outwatch_tests::stub::{Behaviour, Stub, answers};
use tokio::time::Instant;

use super::world::{describe, next, pass, start, wait_for_all};

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.computing = Duration::from_millis(150);
    limits.memory = 32 << 20;
    limits.log_lines = 50;
    limits.fetches = 100;
    limits
}

fn core(doing: &str) -> Stub {
    Stub::with([(format!("guest: {doing}"), answers(10))])
}

fn guarded(stub: &Stub) -> Builder {
    describe(stub, "").component(guest()).limits(limits())
}

/// Waits until it is given up; gives why.
async fn given_up(monitor: &Monitor) -> String {
    match monitor.ended().await {
        Err(StopError::GaveUp(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn five_failures_in_a_row_are_waited_for_ever_longer_and_then_it_is_given_up() {
    let began = Instant::now();
    let monitor = guarded(&core("traps in run")).start().await.unwrap();
    let why = given_up(&monitor).await;
    assert!(
        why.contains("traps_in") && why.contains("unreachable"),
        "{why}"
    );
    let waited = began.elapsed().as_secs();
    assert_eq!(waited, 1 + 2 + 4 + 8, "between five starts");
    assert_eq!(monitor.test("b").await, Err(TestError::Stopped));
}

#[tokio::test(start_paused = true)]
async fn a_good_minute_makes_the_failures_before_it_forgotten() {
    let monitor = guarded(&core("traps after 90 s, again and again"))
        .start()
        .await
        .unwrap();
    pass(Duration::from_secs(3600)).await;
    let report = monitor.report("guest: traps after 90 s, again and again", View::Confirmed);
    assert!(
        report.await.is_some(),
        "it has been started again, some forty times"
    );
    monitor.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn failures_short_of_a_minute_add_up() {
    let began = Instant::now();
    let monitor = guarded(&core("traps after 50 s")).start().await.unwrap();
    given_up(&monitor).await;
    assert_eq!(began.elapsed().as_secs(), 5 * 50 + 1 + 2 + 4 + 8);
}

#[tokio::test(start_paused = true)]
async fn one_that_ends_or_gives_up_by_itself_has_failed() {
    for (doing, says) in [
        ("ends by itself", "ended by itself"),
        ("fails", "has had enough"),
    ] {
        let monitor = guarded(&core(doing)).start().await.unwrap();
        let why = given_up(&monitor).await;
        assert!(why.contains(says), "{why}");
    }
}

/// One after the other, since each is a start of five.
#[tokio::test(start_paused = true)]
async fn a_trap_in_any_export_ends_the_instance_and_not_the_host() {
    for export in [
        "test",
        "subscribe",
        "report-of",
        "reports",
        "measurements",
        "options",
        "service-hosts",
        "activity",
        "network-changed",
        "connection-failed",
        "selection-changed",
        "outbound-ready",
        "outbounds-changed",
        "pause",
        "resume",
    ] {
        let stub = core(&format!("traps in {export}"));
        let tag = format!("guest: traps in {export}");
        let monitor = guarded(&stub).start().await.unwrap();
        let asking = monitor.clone();
        match export {
            "test" => drop(tokio::spawn(async move { asking.test(tag).await })),
            "subscribe" => drop(monitor.subscribe(Scope::All, View::Display)),
            "report-of" => assert_eq!(monitor.report(tag, View::Display).await, None),
            "reports" => assert_eq!(monitor.reports(View::Display).await, []),
            "measurements" => assert_eq!(monitor.measurements(vec![tag]).await, [[]]),
            "options" => assert_eq!(monitor.options().await, None),
            "service-hosts" => assert!(monitor.service_hosts().await.is_empty()),
            "activity" => monitor.activity(),
            "network-changed" => monitor.network_changed(),
            "connection-failed" => monitor.connection_failed(tag, None, Fault::Outbound),
            "selection-changed" => monitor.selection_changed(tag),
            "outbound-ready" => monitor.outbound_ready(tag),
            "outbounds-changed" => monitor.outbounds_changed(),
            "pause" => monitor.pause(),
            _ => monitor.resume(),
        }
        pass(Duration::from_secs(30)).await;
        // What is asked for again and again makes it fail again and again.
        let lasting = ["test", "subscribe", "pause"].contains(&export);
        if lasting {
            continue;
        }
        let answers = monitor.options().await.is_some() || export == "options";
        assert!(answers, "{export}: there is a new instance");
        pass(Duration::from_secs(30)).await;
        monitor.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn traps_in_start_and_stop_are_told_to_who_starts_and_lose_nothing_else() {
    let error = guarded(&core("traps in start")).start().await.unwrap_err();
    assert!(matches!(error, StartError::Component(_)), "{error}");
    assert!(error.to_string().contains("control@0.1.0#start"), "{error}");
    let monitor = guarded(&core("traps in stop")).start().await.unwrap();
    // It is not started again only to be stopped.
    monitor.stop().await.unwrap();
}

#[tokio::test]
async fn one_that_computes_without_end_lets_others_run_and_is_stopped_at_its_limit() {
    let monitor = guarded(&core("spins")).start().await.unwrap();
    // One thread: what runs meanwhile runs between its turns.
    let meanwhile = tokio::spawn(async {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    });
    let bound = Duration::from_secs(60);
    tokio::time::timeout(bound, meanwhile)
        .await
        .expect("others run")
        .unwrap();
    // The first of its replacements comes a second later.
    let memory = async {
        while monitor.memory() != 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(bound, memory)
        .await
        .expect("it was ended");
    monitor.stop().await.unwrap();
}

#[tokio::test]
async fn one_that_computes_without_end_in_start_is_an_error_of_the_start() {
    let error = guarded(&core("spins in start")).start().await.unwrap_err();
    let says = "computed for 0.15 s without returning to its host";
    assert!(error.to_string().contains(says), "{error}");
}

#[tokio::test(start_paused = true)]
async fn one_that_eats_memory_is_stopped_at_its_limit() {
    let monitor = guarded(&core("eats memory")).start().await.unwrap();
    let why = given_up(&monitor).await;
    assert!(why.contains("forcing trap when growing memory"), "{why}");
    assert_eq!(monitor.memory(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_that_publishes_without_end_goes_at_the_reader_s_pace_and_others_are_answered() {
    let stub = core("publishes without end");
    let monitor = guarded(&stub).start().await.unwrap();
    let mut slow = monitor.subscribe(Scope::All, View::Display);
    let first = next(&mut slow).await;
    pass(Duration::from_secs(600)).await;
    let second = next(&mut slow).await;
    let ahead = second.reports[0].revision - first.reports[0].revision;
    assert!(
        ahead < 10,
        "nothing is piled up for one who does not read: {ahead}"
    );
    let mut fast = monitor.subscribe(Scope::All, View::Display);
    let reading = tokio::spawn(async move { while fast.next().await.is_some() {} });
    for _ in 0..20 {
        assert!(monitor.options().await.is_some());
    }
    monitor.stop().await.unwrap();
    reading.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn fetches_beyond_the_limit_wait_for_those_before_them() {
    let stub = core("fetches without end");
    let monitor = guarded(&stub).start().await.unwrap();
    // 5 000 fetches of 10 ms, 100 at a time.
    pass(Duration::from_millis(600)).await;
    assert_eq!(stub.most_in_flight(), limits().fetches);
    let report = monitor
        .report("guest: fetches without end", View::Confirmed)
        .await
        .unwrap();
    assert_eq!(report.delay_ms, Some(5_000), "all came back");
    monitor.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn fetches_that_wait_are_given_up_with_the_instance() {
    let stub = Stub::with([("guest: fetches without end", Behaviour::Stuck)]);
    let monitor = guarded(&stub).start().await.unwrap();
    pass(Duration::from_secs(1)).await;
    monitor.stop().await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!((stub.fetches().len(), stub.dropped()), (100, 100));
}

#[tokio::test(start_paused = true)]
async fn one_that_never_ends_is_ended_after_five_seconds() {
    let monitor = guarded(&core("never ends")).start().await.unwrap();
    let began = Instant::now();
    monitor.stop().await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn one_that_answers_no_test_answers_all_else_and_can_be_stopped() {
    let monitor = guarded(&core("never answers")).start().await.unwrap();
    let asking = monitor.clone();
    let answer = tokio::spawn(async move { asking.test("guest: never answers").await });
    pass(Duration::from_secs(3600)).await;
    assert!(monitor.options().await.is_some());
    monitor.stop().await.unwrap();
    assert_eq!(answer.await.unwrap(), Err(TestError::Stopped));
}

#[tokio::test(start_paused = true)]
async fn a_core_that_never_answers_leaves_the_monitor_responsive_and_its_outbounds_failed() {
    let stub = Stub::with((0..50).map(|i| (format!("out-{i}"), Behaviour::Stuck)));
    let monitor = start(&stub, r#"{"ip_lookup": false}"#).await;
    let reports = wait_for_all(&monitor).await;
    let stuck = |report: &outwatch::Report| {
        report
            .error
            .as_ref()
            .is_some_and(|error| error.kind.as_str() == "stuck")
    };
    assert!(reports.iter().all(stuck), "{reports:?}");
    let began = Instant::now();
    monitor.stop().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
}
