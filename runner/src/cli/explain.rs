//! `outwatch explain`: one test, step by step. It must not test otherwise than monitoring
//! does: it looks on while a monitor tests.

mod advice;
mod chain;
mod recording;
mod story;
mod told;

use std::io::Write as _;
use std::sync::Arc;

use clap::ValueEnum;
use outwatch::{Monitor, Report, Scope, State, TestError, Updates, View};
use serde_json::Value;

use super::cache::users_code;
use super::config::ConfigArgs;
use super::core::CoreArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::log::{self, Level};
use super::monitoring::{self, ComponentArgs};
use super::terminal;
use recording::{Recording, Step};

/// Explain one test: what was tried when, how long each part took, and what to do
///
/// Tests one outbound as monitoring does, and tells every step: what it is dialed through and
/// whether that is ready, each attempt with the time for the name, the connection, TLS and the
/// first byte, what the test address answered and what was expected, which IP services were
/// asked. Where it failed, the end says what to look at. Nothing is saved.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The outbound; of a group, what it leads to
    #[arg(value_name = "TAG")]
    tag: String,
    #[command(flatten)]
    config: ConfigArgs,
    /// How to tell it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    core: CoreArgs,
    #[command(flatten)]
    component: ComponentArgs,
    /// How much to log on standard error
    #[arg(long, value_enum, default_value_t = Level::Warn)]
    log_level: Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON object, for programs
    Json,
}

const HELP: &str = "\
Examples:
  outwatch explain Berlin -c config.json                 Why it works, or does not
  outwatch explain Berlin -c config.json --format json   The same, for a bug report's reader
  outwatch explain auto -c config.json                   What the group leads to

Ends with 5 when it does not work, and with 2 when the config has no such tag.";

/// All that is known of one test.
pub(super) struct Explained {
    /// What was tested.
    tag: String,
    chain: Vec<chain::Link>,
    /// The options in force.
    options: Value,
    steps: Vec<Step>,
    /// When the outbound was shown as unavailable for now, in milliseconds (S-3).
    missed_at_ms: Option<u64>,
    report: Option<Report>,
    /// Why there was no test.
    refused: Option<TestError>,
}

/// Carries it out.
pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let mut interrupt = Interrupt::listen()?;
    log::start(args.log_level, None);
    let checked = args.config.load()?;
    let component = args.component.load(users_code().as_ref())?;
    let mut dialing = args.core.start(&checked).await?;
    let found = chain::leaf(dialing.core().as_ref(), &args.tag);
    let tag = dialing.or_stop(found).await?;
    let core = Arc::new(Recording::over(dialing.core()));
    // Only what is asked for is tested.
    let builder = monitoring::builder(&checked, core.clone(), component).paused();
    let started = monitoring::start(&checked, builder).await;
    let monitor = dialing.or_stop(started).await?;
    dialing.tell(&monitor);
    let explained = tokio::select! {
        explained = explain(&monitor, &core, tag) => Some(explained),
        () = interrupt.wished() => None,
    };
    let stopped = monitoring::stop(&monitor).await;
    dialing.stop().await;
    let Some(explained) = explained else {
        return Ok(Exit::Interrupted);
    };
    let told = match args.format {
        Format::Text => story::tell(&explained),
        Format::Json => told::json(&explained),
    };
    terminal::stdout().write_all(told.as_bytes())?;
    stopped?;
    Ok(if explained.worked() {
        Exit::Fine
    } else {
        Exit::NoneWorked
    })
}

impl Explained {
    fn worked(&self) -> bool {
        self.report
            .as_ref()
            .is_some_and(|report| report.state == State::Ok)
    }
}

/// Has a monitor test one outbound, and looks on.
async fn explain(monitor: &Monitor, core: &Recording, tag: String) -> Explained {
    let options = monitor.options().await.unwrap_or_default();
    let mut updates = monitor.subscribe(Scope::Tag(tag.clone()), View::Display);
    core.begin();
    let mut missed_at_ms = None;
    let refused = {
        let mut testing = std::pin::pin!(monitor.test(tag.as_str()));
        loop {
            tokio::select! {
                tested = &mut testing => break tested.err(),
                Some(update) = updates.next() => {
                    if update.reports.iter().any(|report| report.miss) {
                        missed_at_ms.get_or_insert_with(|| core.elapsed_ms());
                    }
                }
            }
        }
    };
    Explained {
        report: settled(monitor, &mut updates, &tag).await,
        chain: chain::of(core, &tag),
        options: serde_json::from_str(&options).unwrap_or_default(),
        steps: core.steps(),
        missed_at_ms,
        refused,
        tag,
    }
}

/// The report once it is known where its traffic comes out, or that nobody can say.
async fn settled(monitor: &Monitor, updates: &mut Updates, tag: &str) -> Option<Report> {
    loop {
        let report = monitor.report(tag, View::Display).await?;
        if !report.ip_pending || updates.next().await.is_none() {
            return Some(report);
        }
    }
}
