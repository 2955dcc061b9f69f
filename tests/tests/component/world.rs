//! Starting monitors over stub cores, and waiting for what they say. It must not
//! hold an expectation.

use std::time::Duration;

use outwatch::{Builder, Monitor, Report, Scope, State, Update, Updates, View};
use outwatch_tests::stub::Stub;

/// Longer than anything here takes; virtual, so it costs nothing.
const BOUND: Duration = Duration::from_secs(24 * 3600);

pub(crate) fn describe(stub: &Stub, options: &str) -> Builder {
    Monitor::builder(stub.clone())
        .component(crate::engine())
        .options(options)
        .wall_clock(stub.wall_clock())
}

pub(crate) async fn start(stub: &Stub, options: &str) -> Monitor {
    describe(stub, options).start().await.expect("a monitor")
}

/// Starts one that tests only what it is asked for.
pub(crate) async fn start_paused(stub: &Stub) -> Monitor {
    describe(stub, "")
        .paused()
        .start()
        .await
        .expect("a monitor")
}

pub(crate) async fn next(updates: &mut Updates) -> Update {
    tokio::time::timeout(BOUND, updates.next())
        .await
        .expect("an update")
        .expect("no end")
}

/// Lets virtual time pass.
pub(crate) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Waits until a report of `tag` passes `wanted`; gives it.
pub(crate) async fn wait_for(
    monitor: &Monitor,
    view: View,
    tag: &str,
    wanted: impl Fn(&Report) -> bool,
) -> Report {
    let mut updates = monitor.subscribe(Scope::Tag(tag.to_owned()), view);
    loop {
        let update = next(&mut updates).await;
        if let Some(report) = update.reports.into_iter().find(|report| wanted(report)) {
            return report;
        }
    }
}

/// Waits until every outbound was tested in this run.
pub(crate) async fn wait_for_all(monitor: &Monitor) -> Vec<Report> {
    let mut updates = monitor.subscribe(Scope::All, View::Confirmed);
    loop {
        next(&mut updates).await;
        let reports = monitor.reports(View::Confirmed).await;
        let tested = |report: &Report| matches!(report.state, State::Ok | State::Failed);
        if reports.iter().all(tested) {
            return reports;
        }
    }
}
