//! A monitor over a config of real proxies, and waiting for what it shows. It must not
//! know which servers the config leads to.

use std::time::Duration;

use outwatch::{Builder, Monitor, Report, Scope, State, View};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::proxies::world::{core_and_problems, read};

/// Far beyond what a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(60);

/// A monitor of these outbounds with these options, not yet started.
pub(super) fn describe(outbounds: &[Value], options: &Value) -> Builder {
    describe_config(&json!({
        "outbounds": outbounds,
        "experimental": { "monitoring": options },
    }))
}

/// A monitor of a whole config, not yet started. An outbound that the core cannot dial
/// is welcome.
pub(super) fn describe_config(config: &Value) -> Builder {
    let config = read(config);
    let (core, _) = core_and_problems(&config);
    Monitor::builder(core).options(config.monitoring)
}

/// The same, started.
pub(super) async fn start(outbounds: &[Value], options: &Value) -> Monitor {
    let monitor = describe(outbounds, options).start().await;
    monitor.expect("options that are right")
}

/// What is shown of `tag` once it is as wanted.
pub(super) async fn shown(
    monitor: &Monitor,
    tag: &str,
    wanted: impl Fn(&Report) -> bool,
) -> Report {
    seen(monitor, tag, View::Display, wanted).await
}

/// What is known of `tag` once its first test is over.
pub(super) async fn tested(monitor: &Monitor, tag: &str) -> Report {
    let over = |report: &Report| matches!(report.state, State::Ok | State::Failed);
    seen(monitor, tag, View::Confirmed, over).await
}

async fn seen(
    monitor: &Monitor,
    tag: &str,
    view: View,
    wanted: impl Fn(&Report) -> bool,
) -> Report {
    let mut updates = monitor.subscribe(Scope::Tag(tag.to_owned()), view);
    let mut last = None;
    let wait = async {
        while let Some(update) = updates.next().await {
            for report in update.reports {
                if wanted(&report) {
                    return Some(report);
                }
                last = Some(report);
            }
        }
        None
    };
    let found = timeout(PATIENCE, wait).await.ok().flatten();
    found.unwrap_or_else(|| panic!("`{tag}` never got there; the last of it: {last:#?}"))
}
