//! Another component that fails: before it has begun, as it takes over, within its first
//! minute, or the one before as it gives way. It must not know what a good one leaves alone.

use super::*;

#[tokio::test(start_paused = true)]
async fn one_that_traps_in_start_or_refuses_the_options_changes_nothing() {
    for (doing, says) in [
        ("traps in start", "the guest traps in start"),
        ("refuses every option", "the monitoring options are wrong"),
    ] {
        let stub = mixed(doing);
        let monitor = start(&stub, QUIET).await;
        wait_for_all(&monitor).await;
        let before = confirmed(&monitor).await;
        let mut watcher = monitor.subscribe(Scope::All, View::Confirmed);
        next(&mut watcher).await;
        let error = monitor.replace_component(guest()).await.unwrap_err();
        match &error {
            ReplaceError::Start(StartError::Options(problems)) => {
                assert_eq!(problems[0].path, "workers");
            }
            ReplaceError::Start(StartError::Component(text)) => {
                assert!(text.contains("control@0.1.0#start"), "{says}: {text}");
            }
            error => panic!("{error}"),
        }
        assert_eq!(confirmed(&monitor).await, before);
        assert_eq!(pending(&mut watcher).await, []);
        assert_eq!(stub.dropped(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_fails_as_it_takes_over_gives_way_to_the_one_before() {
    let stub = mixed("traps in take");
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    let before = confirmed(&monitor).await;
    let error = monitor.replace_component(guest()).await.unwrap_err();
    assert!(matches!(error, ReplaceError::Start(_)), "{error}");
    assert_eq!(confirmed(&monitor).await, before);
    // It runs on.
    assert_eq!(monitor.test("b").await.unwrap().state, State::Failed);
}

#[tokio::test(start_paused = true)]
async fn one_that_fails_its_first_minute_is_rolled_back_with_nothing_lost() {
    for doing in [
        "traps in run",
        "fails",
        "ends by itself",
        "traps after 50 s",
    ] {
        let stub = mixed(doing);
        let monitor = start(&stub, QUIET).await;
        wait_for_all(&monitor).await;
        let before = confirmed(&monitor).await;
        let highest = before.iter().map(|report| report.revision).max();
        let mut watcher = monitor.subscribe(Scope::Tag("b".into()), View::Confirmed);
        next(&mut watcher).await;
        let replaced = monitor.replace_component(guest()).await.expect("it starts");
        let outcome = replaced.stood_its_trial().await;
        assert!(
            matches!(outcome, Err(ReplaceError::RolledBack(_))),
            "{doing}: {outcome:?}"
        );
        assert_eq!(monitor.component().sha256(), crate::engine().sha256());
        let after = confirmed(&monitor).await;
        let mut numbered = after.clone();
        for (report, before) in numbered.iter_mut().zip(&before) {
            report.revision = before.revision;
        }
        assert_eq!(
            numbered, before,
            "{doing}: nothing is back to untested or cached"
        );
        assert!(after.iter().map(|report| report.revision).min() > highest);
        let revisions: Vec<_> = pending(&mut watcher)
            .await
            .into_iter()
            .map(|update| update.reports[0].revision)
            .collect();
        assert!(
            revisions.is_sorted_by(|a, b| a < b),
            "{doing}: {revisions:?}"
        );
        assert_eq!(monitor.test("b").await.unwrap().state, State::Failed);
    }
}

#[tokio::test(start_paused = true)]
async fn p3_what_a_failed_one_saved_is_dropped_and_what_a_good_one_saved_stays() {
    let cache = Arc::new(MemoryCache::new());
    let stub = mixed("spoils the cache and traps");
    let monitor = describe(&stub, QUIET)
        .cache(cache.clone())
        .start()
        .await
        .unwrap();
    wait_for_all(&monitor).await;
    pass(Duration::from_secs(2)).await;
    let saved = cache.get_prefix("").unwrap();
    assert!(!saved.is_empty());
    let replaced = monitor.replace_component(guest()).await.expect("it starts");
    pass(Duration::from_secs(10)).await;
    assert_eq!(
        cache.keys().unwrap().len(),
        saved.len(),
        "not before the minute is over"
    );
    replaced.stood_its_trial().await.unwrap_err();
    let keys = |pairs: &[(String, Vec<u8>)]| -> Vec<String> {
        pairs.iter().map(|(key, _)| key.clone()).collect()
    };
    assert_eq!(keys(&cache.get_prefix("").unwrap()), keys(&saved));

    let replaced = monitor.replace_component(another()).await.expect("another");
    stub.set("b", answers(77));
    monitor.test("b").await.unwrap();
    replaced.stood_its_trial().await.expect("a good minute");
    assert_eq!(cache.keys().unwrap().len(), saved.len() + 1);
}

#[tokio::test(start_paused = true)]
async fn one_that_fails_while_it_gives_way_loses_no_more_than_it_had_not_saved() {
    for doing in ["traps in stop", "traps in give", "never ends"] {
        let stub = mixed(doing);
        let monitor = describe(&stub, QUIET)
            .component(guest())
            .start()
            .await
            .unwrap();
        let mut watcher = monitor.subscribe(Scope::All, View::Confirmed);
        next(&mut watcher).await;
        monitor.replace_component(another()).await.expect("another");
        wait_for_all(&monitor).await;
        let update = next(&mut watcher).await;
        assert!(!update.reports.is_empty(), "{doing}");
    }
}

#[tokio::test(start_paused = true)]
async fn another_may_come_within_the_first_minute_and_the_way_back_stays_the_same() {
    let stub = mixed("traps after 50 s");
    let monitor = start(&stub, QUIET).await;
    wait_for_all(&monitor).await;
    let first = monitor.replace_component(another()).await.expect("another");
    let second = monitor.replace_component(guest()).await.expect("it starts");
    assert!(matches!(
        first.stood_its_trial().await,
        Err(ReplaceError::RolledBack(_))
    ));
    second.stood_its_trial().await.unwrap_err();
    let third = monitor.replace_component(another()).await.expect("another");
    let proven = crate::engine();
    assert_eq!(third.before().sha256(), proven.sha256());
}
