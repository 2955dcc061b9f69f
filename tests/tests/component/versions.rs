//! Which engines this host runs: those of its contract, older and newer ones, and no
//! others.

use outwatch::{Component, LoadError, State, View};
use outwatch_tests::engines::{GUEST, guest, load, of_version};
use outwatch_tests::stub::{Stub, answers};

use super::world::{describe, start, wait_for_all};

fn refused(engine: &[u8]) -> String {
    let error = load(engine).expect_err("it is refused");
    assert!(matches!(error, LoadError::NotHosted { .. }), "{error}");
    error.to_string()
}

#[test]
fn what_the_build_wrote_down_of_its_engine_is_what_the_engine_is() {
    let embedded = Component::embedded().expect("an engine");
    let read = load(Component::embedded_bytes()).expect("the same engine");
    assert_eq!(embedded.sha256(), read.sha256());
    assert_eq!(embedded.version(), read.version());
    assert!(read.version().is_some(), "it names its version");
}

#[tokio::test(start_paused = true)]
async fn a_later_engine_of_the_contract_runs_in_this_host() {
    let later = of_version(Component::embedded_bytes(), "0.1.1");
    let later = load(&later).expect("a later engine");
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    let monitor = describe(&stub, "")
        .component(later)
        .start()
        .await
        .expect("a monitor");
    let reports = wait_for_all(&monitor).await;
    assert!(reports.iter().all(|report| report.state == State::Ok));
    monitor.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_that_exports_more_than_this_host_knows_runs_in_it() {
    let exports = String::from_utf8_lossy(GUEST);
    assert!(exports.contains("outwatch:guest/novelty@0.1.0"));
    for engine in [GUEST.to_vec(), of_version(GUEST, "0.1.7")] {
        let engine = load(&engine).expect("an engine");
        let stub = Stub::with([("a", answers(10))]);
        let monitor = describe(&stub, "")
            .component(engine)
            .start()
            .await
            .expect("a monitor");
        let report = monitor.test("a").await.expect("a report");
        assert_eq!(report.type_name, "guest");
        assert_eq!(report.extra, [("loss".to_owned(), "0.5".to_owned())]);
        monitor.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_later_engine_takes_over_from_this_one_and_the_other_way_round() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    let monitor = start(&stub, r#"{"ip_lookup": false}"#).await;
    let before = wait_for_all(&monitor).await;
    let later = load(&of_version(Component::embedded_bytes(), "0.1.1")).expect("a later engine");
    for engine in [later, crate::engine()] {
        monitor.replace_component(engine).await.expect("another");
        let after = monitor.reports(View::Confirmed).await;
        let revisions = |reports: &[outwatch::Report]| -> Vec<u64> {
            reports.iter().map(|report| report.revision).collect()
        };
        assert_eq!(revisions(&after), revisions(&before));
        assert!(after.iter().all(|report| report.state == State::Ok));
    }
}

#[test]
fn an_engine_of_another_contract_is_refused_with_what_it_is_and_what_this_host_runs() {
    for version in ["0.3.0", "1.0.0", "0.0.1"] {
        let said = refused(&of_version(GUEST, version));
        let is = format!("is an engine of the contract outwatch:monitor@{version}");
        assert!(said.contains(&is), "{said}");
        assert!(
            said.ends_with("this runner hosts outwatch:monitor@0.1.0"),
            "{said}"
        );
    }
}

#[test]
fn a_component_that_is_no_engine_is_refused_with_what_it_exports() {
    let mut other = GUEST.to_vec();
    let from = b"outwatch:monitor/";
    let names: Vec<usize> = (0..other.len())
        .filter(|&at| other[at..].starts_with(from))
        .collect();
    for at in names {
        other[at..at + from.len()].copy_from_slice(b"somebody:else123/");
    }
    let said = refused(&other);
    assert!(said.contains("is no engine: it exports") && said.contains("somebody:else123/control"));
}

#[test]
fn an_engine_without_one_of_the_exports_is_refused_and_that_one_is_named() {
    let mut less = GUEST.to_vec();
    let from = b"outwatch:monitor/handover@0.1.0";
    let names: Vec<usize> = (0..less.len())
        .filter(|&at| less[at..].starts_with(from))
        .collect();
    for at in names {
        less[at..at + from.len()].copy_from_slice(b"outwatch:monitor/handoven@0.1.0");
    }
    let error = load(&less).unwrap_err();
    assert!(matches!(error, LoadError::DoesNotFit { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("outwatch:monitor/handover@0.1.0"),
        "{error}"
    );
}

#[test]
fn an_engine_with_an_import_that_this_host_does_not_have_is_refused_and_it_is_named() {
    let mut more = GUEST.to_vec();
    let from = b"outwatch:monitor/cache@0.1.0";
    let names: Vec<usize> = (0..more.len())
        .filter(|&at| more[at..].starts_with(from))
        .collect();
    for at in names {
        more[at..at + from.len()].copy_from_slice(b"outwatch:monitor/cards@0.1.0");
    }
    let error = load(&more).unwrap_err();
    assert!(matches!(error, LoadError::DoesNotFit { .. }), "{error}");
    assert!(
        error.to_string().contains("outwatch:monitor/cards@0.1.0"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_guest_of_these_tests_does_nothing_wrong_by_itself() {
    let stub = Stub::with([("a", answers(10))]);
    let monitor = describe(&stub, "")
        .component(guest())
        .start()
        .await
        .expect("a monitor");
    assert_eq!(monitor.reports(View::Display).await.len(), 1);
    monitor.stop().await.unwrap();
}
