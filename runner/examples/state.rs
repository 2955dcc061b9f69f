//! Updates into an app's own state: a task keeps a list that a user interface reads whenever
//! it draws, and is told to draw by a watch channel.
#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use std::collections::BTreeMap;

use outwatch::config::{self, LoadOptions};
use outwatch::{Monitor, NativeCore, Report, Scope, Updates, View};
use tokio::sync::watch;

/// What the app shows: the last report of each tag.
type Shown = BTreeMap<String, Report>;

/// Keeps what is shown current until the monitor ends.
async fn keep_current(mut updates: Updates, shown: watch::Sender<Shown>) {
    while let Some(update) = updates.next().await {
        // One change for each update: the list is never seen half done.
        shown.send_modify(|shown| {
            for tag in &update.removed {
                shown.remove(tag);
            }
            let reports = update.reports.into_iter();
            shown.extend(reports.map(|report| (report.tag.clone(), report)));
        });
    }
}

fn draw(shown: &Shown) {
    for (tag, report) in shown {
        let delay = report.delay_ms.map_or("-".to_owned(), |ms| ms.to_string());
        let spinner = if report.testing { "…" } else { "" };
        println!("{tag:<10} {:<8} {delay:>6} {spinner}", report.state);
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = std::env::args().nth(1).unwrap_or_default();
    let monitor = Monitor::builder(my_core()?)
        .options(options)
        .start()
        .await?;

    let (sender, mut shown) = watch::channel(Shown::new());
    let updates = monitor.subscribe(Scope::All, View::Display);
    let keeper = tokio::spawn(keep_current(updates, sender));

    // The user interface: it misses what changed while it drew, and never the last.
    loop {
        let now = shown.borrow_and_update().clone();
        draw(&now);
        let done = now.len() == 2 && now.values().all(|report| report.delay_ms.is_some());
        if done || shown.changed().await.is_err() {
            break;
        }
    }
    monitor.stop().await?;
    keeper.await?;
    Ok(())
}

/// Any core will do; this is the one that comes along.
fn my_core() -> Result<NativeCore, &'static str> {
    let text = br#"{ "outbounds": [
        { "type": "direct", "tag": "straight" },
        { "type": "selector", "tag": "choice", "outbounds": ["straight"] }
    ] }"#;
    let config = config::read("inline", text, &LoadOptions::default()).config;
    let (core, _) = NativeCore::new(&config.ok_or("a config")?.entries, None);
    Ok(core)
}
