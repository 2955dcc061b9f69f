//! `outwatch test`: tests everything once and shows what came of it.
//! It must not know how one test is done.

mod board;

use futures::StreamExt as _;
use futures::stream;
use outwatch::{Monitor, Report, Scope, State, TestError, View};
use serde_json::Value;

use super::cache::CacheArgs;
use super::config::ConfigArgs;
use super::core::CoreArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::log::{self, Level};
use super::monitoring::{self, ComponentArgs};
use super::output::Format;
use super::progress::Progress;
use super::tags;
use super::terminal;
use board::Board;

/// Test outbounds once, and show delay, exit IP, country and network, fastest first
///
/// Each outbound is tested in stages (`on_demand_timeouts`): a failed attempt is
/// repeated until the last of them. Of those that work it is then looked up where
/// their traffic comes out. As many run at once as `workers` says.
///
/// What is shown was measured just now. It is also saved, so that `outwatch run`
/// starts with it; results saved earlier only decide what is tested first.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Test only these outbounds, or the members of these groups
    #[arg(value_name = "TAG")]
    tags: Vec<String>,
    #[command(flatten)]
    config: ConfigArgs,
    /// How to show results [default: table on a terminal, else tsv]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Only test; do not ask an IP service where traffic comes out
    #[arg(long)]
    no_ip: bool,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    core: CoreArgs,
    #[command(flatten)]
    component: ComponentArgs,
    /// How much to log on standard error
    #[arg(long, value_enum, default_value_t = Level::Warn)]
    log_level: Level,
}

const HELP: &str = "\
Examples:
  outwatch test -c config.json                         All of them
  outwatch test -c config.json \"Berlin 1\" Tokyo        Two of them
  outwatch test -c config.json auto                    The members of the group `auto`
  outwatch test -c config.json | cut -f1 | sed -n 2p   The tag of the fastest
  outwatch test -c config.json --format jsonl | jq 'select(.ip.country_code == \"DE\")'

Ctrl-C shows what is known so far and ends with 130. Ends with 5 when no outbound
worked, and with 2 when the config has no such tag.";

/// Carries it out.
pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let mut interrupt = Interrupt::listen()?;
    let surface = Progress::surface();
    log::start(args.log_level, Some(&surface));
    let mut checked = args.config.load()?;
    if args.no_ip {
        checked.set_option("ip_lookup", false);
    }
    let component = args.component.load(args.cache.code().as_ref())?;
    let mut dialing = args.core.start(&checked).await?;
    let asked = tags::asked(dialing.core().as_ref(), &args.tags);
    let asked = dialing.or_stop(asked).await?;
    // Only what is asked for is tested.
    let mut builder = monitoring::builder(&checked, dialing.core(), component).paused();
    if let Some(cache) = args.cache.open(&checked.config.cache_file) {
        builder = builder.cache(cache);
    }
    let started = monitoring::start(&checked, builder).await;
    let monitor = dialing.or_stop(started).await?;
    dialing.tell(&monitor);

    let format = args
        .format
        .unwrap_or(Format::fitting(terminal::is_watched()));
    let mut progress = Progress::new(&surface, asked.leaves.len());
    let mut board = Board::new(asked, format);
    let outcome = tokio::select! {
        outcome = test_all(&monitor, &mut board, &mut progress) => outcome.map(|()| None),
        () = interrupt.wished() => Ok(Some(Exit::Interrupted)),
    };
    drop(progress);
    board.conclude(monitor.reports(View::Confirmed).await)?;
    let interrupted = outcome?;
    tokio::select! {
        stopped = monitoring::stop(&monitor) => stopped?,
        () = interrupt.wished() => return Ok(Exit::Interrupted),
    }
    dialing.stop().await;
    let worked = if board.any_worked() {
        Exit::Fine
    } else {
        Exit::NoneWorked
    };
    Ok(interrupted.unwrap_or(worked))
}

/// Tests every leaf, and waits until it is known where those that work come out.
async fn test_all(
    monitor: &Monitor,
    board: &mut Board,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut updates = monitor.subscribe(Scope::All, View::Display);
    let leaves = board.leaves().to_vec();
    let mut tests = stream::iter(leaves)
        .map(|tag| test_one(monitor, tag))
        .buffer_unordered(workers(monitor).await);
    let mut all_tested = false;
    while !all_tested || board.waits_for_ip() {
        tokio::select! {
            tested = tests.next(), if !all_tested => match tested {
                Some(report) => {
                    let report = report?;
                    progress.done(report.state == State::Ok);
                    board.tested(report)?;
                }
                None => {
                    all_tested = true;
                    progress.waits_for("finding out where they come out");
                }
            },
            update = updates.next() => match update {
                Some(update) => board.updated(update.reports)?,
                None => return Err(gone()),
            },
        }
    }
    Ok(())
}

/// Tests one outbound; gives what can be said of it right after.
async fn test_one(monitor: &Monitor, tag: String) -> Result<Report, Failure> {
    // One that is not ready or fails says so in its report.
    if monitor.test(&tag).await == Err(TestError::Stopped) {
        return Err(gone());
    }
    monitor.report(&tag, View::Display).await.ok_or_else(gone)
}

/// How many tests may run at once.
async fn workers(monitor: &Monitor) -> usize {
    let options = monitor.options().await.unwrap_or_default();
    let options: Value = serde_json::from_str(&options).unwrap_or_default();
    let workers = options["workers"]
        .as_u64()
        .and_then(|workers| usize::try_from(workers).ok());
    // An engine without the option gets one at a time.
    workers.unwrap_or(1).max(1)
}

fn gone() -> Failure {
    Failure::new(Exit::Component, "the component stopped working")
}
