//! Testing as the component does it: cycles, asked-for tests, lookups, idleness.

use std::time::Duration;

use outwatch::{DelaySource, Outbound, Readiness, State, TestError, View};
use outwatch_tests::stub::{Behaviour, Stub, answers, refuses};

use super::world::{next, pass, start, start_paused, wait_for, wait_for_all};

#[tokio::test(start_paused = true)]
async fn c2_a_cycle_tests_every_outbound_and_no_more_than_workers_at_once() {
    let stub = Stub::with((0..50).map(|i| (format!("out-{i}"), answers(100 + i))));
    let monitor = start(&stub, r#"{"workers": 7, "ip_lookup": false}"#).await;
    let reports = wait_for_all(&monitor).await;
    for (i, report) in reports.iter().enumerate() {
        assert_eq!(
            report.delay_ms,
            Some(100 + u32::try_from(i).unwrap()),
            "{}",
            report.tag
        );
    }
    assert_eq!(stub.tests().len(), 50);
    assert_eq!(stub.most_in_flight(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_monitor_tells_how_much_memory_its_component_has_until_it_ends() {
    let few = start_paused(&Stub::with([("a", answers(30))])).await;
    let stub = Stub::with((0..3_000).map(|i| (format!("out-{i}"), answers(30))));
    let many = start_paused(&stub).await;
    let of_one = few.memory();
    assert!(of_one > 0 && of_one % (64 << 10) == 0, "{of_one}");
    assert!(many.memory() > of_one, "{} and {of_one}", many.memory());
    many.stop().await.expect("a good end");
    assert_eq!((few.memory(), many.memory()), (of_one, 0));
}

#[tokio::test(start_paused = true)]
async fn t1_groups_and_untestable_outbounds_are_never_tested() {
    let stub = Stub::with([("a", answers(30))]);
    stub.add_group("auto", &["a"], Some("a"));
    stub.add(
        Outbound {
            kind: outwatch::Kind::Untestable,
            ..Outbound::new("no", "block")
        },
        answers(1),
    );
    let monitor = start(&stub, r#"{"ip_lookup": false}"#).await;
    let group = wait_for(&monitor, View::Confirmed, "auto", |report| {
        report.state == State::Ok
    })
    .await;
    assert_eq!(
        group.via.as_deref(),
        Some("a"),
        "R-2: the group's result names its member"
    );
    assert_eq!(group.delay_ms, Some(30));
    assert_eq!(stub.tests(), ["a"]);
    assert_eq!(monitor.test("no").await, Err(TestError::Untestable));
    assert_eq!(monitor.test("nobody").await, Err(TestError::UnknownTag));
}

#[tokio::test(start_paused = true)]
async fn c1_the_leaf_of_each_selection_is_tested_ahead_of_everything() {
    let stub = Stub::with((0..20).map(|i| (format!("out-{i}"), answers(50))));
    stub.add_group("inner", &["out-17"], Some("out-17"));
    stub.add_group("outer", &["inner", "out-3"], Some("inner"));
    let monitor = start(&stub, r#"{"workers": 2, "ip_lookup": false}"#).await;
    wait_for_all(&monitor).await;
    assert_eq!(stub.tests()[0], "out-17");
    assert_eq!(stub.tests().len(), 20, "and not a second time by the cycle");
}

#[tokio::test(start_paused = true)]
async fn t7_the_delay_comes_first_and_the_exit_follows() {
    let stub = Stub::with([("a", answers(80))]);
    stub.set_ip("a", "1.1.1.1", "nl");
    let monitor = start(&stub, r#"{"debounce_window": "1ms"}"#).await;
    let mut updates = monitor.subscribe(outwatch::Scope::Tag("a".into()), View::Confirmed);
    assert_eq!(next(&mut updates).await.reports[0].state, State::Untested);
    let tested = next(&mut updates).await.reports.remove(0);
    assert_eq!((tested.delay_ms, tested.ip.is_some()), (Some(80), false));
    let found = next(&mut updates).await.reports.remove(0);
    let ip = found.ip.expect("an address");
    assert_eq!(
        (ip.ip.as_str(), ip.country_code.as_deref()),
        ("1.1.1.1", Some("NL"))
    );
    assert_eq!(ip.asn, Some(64500));
    assert_eq!(found.delay_source, Some(DelaySource::Url));
    assert!(found.revision > tested.revision);
}

#[tokio::test(start_paused = true)]
async fn s5_a_late_answer_replaces_the_miss_that_only_people_see() {
    let stub = Stub::with([("a", answers(1500))]);
    let monitor = start_paused(&stub).await;
    let mut shown = monitor.subscribe(outwatch::Scope::All, View::Display);
    let mut confirmed = monitor.subscribe(outwatch::Scope::All, View::Confirmed);
    next(&mut shown).await;
    next(&mut confirmed).await;
    let asked = monitor.clone();
    let answer = tokio::spawn(async move { asked.test("a").await });
    let miss = loop {
        let report = next(&mut shown).await.reports.remove(0);
        if report.miss {
            break report;
        }
        assert!(report.testing, "nothing else is shown before the miss");
    };
    assert_eq!(miss.state, State::Untested, "a miss is no failure");
    let report = answer.await.unwrap().unwrap();
    assert_eq!(
        (report.state, report.delay_ms, report.attempts),
        (State::Ok, Some(1500), 1)
    );
    let first = next(&mut confirmed).await;
    assert_eq!(
        first.reports[0].delay_ms,
        Some(1500),
        "S-7: groups never see a miss"
    );
    assert!(
        first.urgent,
        "E-1: an asked-for result does not wait for the window"
    );
    let late = wait_for(&monitor, View::Display, "a", |report| !report.testing).await;
    assert!(!late.miss);
}

#[tokio::test(start_paused = true)]
async fn s2_a_refused_attempt_is_tried_again_at_each_mark_but_the_last() {
    let stub = Stub::with([("a", refuses(100))]);
    let monitor = start_paused(&stub).await;
    let report = monitor.test("a").await.unwrap();
    assert_eq!((report.state, report.attempts), (State::Failed, 3));
    let fetches = stub.fetches();
    let began = fetches[0].at;
    let at: Vec<_> = fetches
        .iter()
        .map(|fetch| (fetch.at - began).as_millis() / 100)
        .collect();
    assert_eq!(at, [0, 10, 30]);
}

#[tokio::test(start_paused = true)]
async fn s6_at_the_last_mark_a_silent_attempt_is_canceled() {
    let stub = Stub::with([("a", Behaviour::Stuck)]);
    let monitor = start_paused(&stub).await;
    let began = tokio::time::Instant::now();
    let report = monitor.test("a").await.unwrap();
    assert_eq!(report.error.expect("an error").kind.as_str(), "timeout");
    assert_eq!(began.elapsed().as_millis() / 100, 100);
    assert_eq!(stub.fetches().len(), 1);
    assert_eq!(
        stub.dropped(),
        1,
        "the host's exchange is dropped with the call"
    );
}

#[tokio::test(start_paused = true)]
async fn e3_two_who_ask_at_once_share_one_test() {
    let stub = Stub::with([("a", answers(200))]);
    let monitor = start_paused(&stub).await;
    let (one, other) = tokio::join!(monitor.test("a"), monitor.test("a"));
    assert_eq!(one.unwrap().delay_ms, other.unwrap().delay_ms);
    assert_eq!(stub.tests(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn d4_an_outbound_that_is_not_ready_has_the_cores_words_and_no_error() {
    let stub = Stub::with([("a", answers(10))]);
    stub.set_status("a", Readiness::NotReady("still registering".into()));
    let monitor = start_paused(&stub).await;
    assert_eq!(
        monitor.test("a").await,
        Err(TestError::NotReady("still registering".into()))
    );
    let report = monitor.report("a", View::Display).await.unwrap();
    assert_eq!(report.state, State::NotReady);
    assert_eq!(report.status_text.as_deref(), Some("still registering"));
    assert_eq!(report.error, None);
    assert!(stub.fetches().is_empty());
}

#[tokio::test(start_paused = true)]
async fn n1_testing_stops_when_idle_and_the_next_connection_starts_it_at_once() {
    let stub = Stub::with([("a", answers(10))]);
    let options = r#"{"interval": "1m", "idle_timeout": "150s", "ip_lookup": false}"#;
    let monitor = start(&stub, options).await;
    pass(Duration::from_secs(3600)).await;
    assert_eq!(stub.tests().len(), 3, "at 0, 60 and 120 s");
    monitor.activity();
    pass(Duration::from_secs(1)).await;
    assert_eq!(stub.tests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn d2_an_outbound_is_tested_only_once_its_detour_has_a_result_of_this_run() {
    let stub = Stub::with([("hop", answers(300))]);
    stub.add(
        Outbound {
            detour: Some("hop".into()),
            ..Outbound::new("far", "stub")
        },
        answers(10),
    );
    let monitor = start(&stub, r#"{"ip_lookup": false}"#).await;
    wait_for_all(&monitor).await;
    let fetches = stub.fetches();
    assert_eq!(stub.tests(), ["hop", "far"]);
    assert!(fetches[1].at - fetches[0].at >= Duration::from_millis(300));
}

#[tokio::test(start_paused = true)]
async fn a_day_of_two_hundred_outbounds_passes() {
    let stub = Stub::with((0..200).map(|i| (format!("out-{i}"), answers(20 + 3 * i))));
    let options = r#"{"interval": "30m", "idle_timeout": "2d", "workers": 64, "ip_lookup": false}"#;
    let monitor = start(&stub, options).await;
    pass(Duration::from_secs(24 * 3600 - 60)).await;
    assert_eq!(
        stub.tests().len(),
        48 * 200,
        "every outbound every half hour"
    );
    assert_eq!(stub.most_in_flight(), 64);
    monitor.stop().await.unwrap();
}
