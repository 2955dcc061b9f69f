//! `outwatch run`: monitors until it is told to stop.
//! It must not know when or why anything is tested.

use std::pin::pin;
use std::sync::Arc;

use outwatch::api::LogLines;
use outwatch::group::Groups;
use outwatch::inbound::Connections;
use outwatch::{Cache, Updates};

use super::api::{self, ApiArgs};
use super::cache::CacheArgs;
use super::config::{Checked, ConfigArgs};
use super::core::CoreArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::hangup::{Hangup, Wish};
use super::interrupt::Interrupt;
use super::log::{self, Level};
use super::memory;
use super::monitoring::{self, ComponentArgs};
use super::reload::{Fixed, Running};
use super::stream::{Stream, StreamFormat};
use super::swap::Watch;
use super::traffic;

/// Monitor until Ctrl-C: tests in cycles, with the reasons on standard error
///
/// The config's inbounds are opened, and their connections go through `route.final`, by
/// the choice of its groups. Connections keep the tests going: without any for
/// `idle_timeout` nothing is tested until the next. With no inbound open, it tests on.
///
/// Everything is tested at the start and then every `interval`. On a terminal a live table
/// shows what is known, and keys test, sort, filter and choose; `?` lists them. The log says
/// why each test runs and what came of it, in a pane of the table and else on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// How to show what goes on [default: table on a terminal, else log]
    #[arg(long, value_enum)]
    format: Option<StreamFormat>,
    #[command(flatten)]
    pub(super) cache: CacheArgs,
    #[command(flatten)]
    pub(super) core: CoreArgs,
    #[command(flatten)]
    pub(super) component: ComponentArgs,
    #[command(flatten)]
    api: ApiArgs,
    /// How much to log on standard error [default: the config's `log.level`, else info]
    #[arg(long, value_enum)]
    log_level: Option<Level>,
}

const HELP: &str = "\
Examples:
  outwatch run -c config.json                        A live table; `?` shows its keys
  outwatch run -c config.json --format log           The log alone, as without a terminal
  outwatch run -c config.json --format jsonl >> log  Every result, for programs
  outwatch run -c config.json --log-level warn       Quiet unless something is wrong

Results are saved in the config's `experimental.cache_file` if that is enabled, else
in the user's cache directory, and loaded at the next start. Ctrl-C and SIGTERM are
how it is meant to end: it saves and ends with 0.

SIGHUP has the config read again (Unix). Outbounds, endpoints, groups, inbounds and the
route follow it, and connections live on where their inbound is the same; what holds
from the next start on is said. A config that is wrong changes nothing.

When the file of --component becomes another, and at SIGHUP, its engine takes the place
of the one that runs, with all results. One that does not fit, does not start or fails
within a minute changes nothing.";

/// Carries it out.
pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let mut interrupt = Interrupt::listen()?;
    let mut hangup = Hangup::listen()?;
    let checked = args.config.load()?;
    let level = args.log_level.or_else(|| Level::of(&checked.config.log));
    let log_lines = log::start_passing_on(level.unwrap_or(Level::Info));
    let format = args.format;
    let stream = Stream::open(format.unwrap_or_else(|| StreamFormat::fitting(StreamFormat::Log)))?;
    let name = checked.name().to_owned();
    let mut engine = Watch::begin(&args.component).await;
    let (mut running, updates) = start(args, checked, &stream, log_lines).await?;
    let monitor = running.monitor.clone();
    // It answers once it has read the core's list, the last thing that takes much more than
    // it leaves.
    let _ = monitor.options().await;
    memory::give_back();
    let choosing = running.choosing();
    let title = api::title(&name, running.api.as_ref());
    let mut show = pin!(stream.show(&title, updates, &choosing));
    let shown = tokio::select! {
        shown = &mut show => Some(shown),
        () = interrupt.wished() => None,
        () = changes(&mut running, &mut hangup, &mut engine) => None,
    };
    let end = async {
        if let Some(api) = running.api.take() {
            api.stop().await;
        }
        running.traffic.stop().await;
        let stopped = monitoring::stop(&monitor);
        match shown {
            Some(shown) => (stopped.await, shown),
            // The last updates come while it stops.
            None => tokio::join!(stopped, show),
        }
    };
    tokio::select! {
        (stopped, shown) = end => {
            running.dialing.stop().await;
            stopped.and(shown).map(|()| Exit::Fine)
        }
        () = interrupt.wished() => Ok(Exit::Interrupted),
    }
}

/// Starts all that a config says. The updates for the stream begin with what is known
/// before the first test.
async fn start<'a>(
    args: &'a Args,
    mut checked: Checked,
    stream: &Stream,
    log_lines: LogLines,
) -> Result<(Running<'a>, Option<Updates>), Failure> {
    let (mut plan, problems) = traffic::Plan::read(&checked);
    checked.report(problems)?;
    let component = args.component.load(args.cache.code().as_ref())?;
    let mut dialing = args.core.start(&checked).await?;
    // The core has what it needs of them. They are most of a config, and the component takes
    // as much again.
    checked.config.entries = Vec::new();
    memory::give_back();
    let mut builder = monitoring::builder(&checked, dialing.current(), component);
    let cache = args.cache.open(&checked.config.cache_file);
    let cache = cache.map(|cache| Arc::new(cache) as Arc<dyn Cache>);
    if let Some(cache) = cache.clone() {
        builder = builder.cache(cache);
    }
    let groups = plan.groups(dialing.core(), cache);
    let started = monitoring::start(&checked, builder).await;
    let monitor = dialing.or_stop(started).await?;
    let updates = stream.updates(&monitor);
    dialing.tell(&monitor);
    let config = &checked.config.clash_api;
    // The API alone tells of connections.
    let connections = args.api.address(config).map(|_| Connections::default());
    let traffic = plan
        .open(dialing.core(), groups, &monitor, connections.clone())
        .await;
    let code = args.cache.code();
    let api = args.api.serve(config, &monitor, |api| {
        let api = api
            .groups(Groups::clone(&traffic.groups().get()))
            .connections(connections.unwrap_or_default(), traffic.final_tag())
            .log_lines(log_lines);
        match code {
            Some(code) => api.code_cache(code),
            None => api,
        }
    });
    let api = dialing.or_stop(api).await?;
    let running = Running {
        args,
        api,
        fixed: Fixed::of(&checked.config),
        dialing,
        monitor,
        traffic,
    };
    Ok((running, updates))
}

/// Goes over to another config or engine as often as there is one; ends when all is to
/// end.
async fn changes(running: &mut Running<'_>, hangup: &mut Hangup, engine: &mut Watch) {
    loop {
        tokio::select! {
            wish = hangup.wish() => match wish {
                Wish::Reload => running.reload().await,
                Wish::End => return,
            },
            () = engine.changed() => {}
        }
        running.take_engine().await;
    }
}
