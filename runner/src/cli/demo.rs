//! `outwatch demo`: a little world on loopback, monitored like a real one.
//! It must not do anything that `run` could not do with a config.

use std::collections::HashSet;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use indicatif::MultiProgress;
use outwatch::config::{self, LoadOptions, listen_address};
use outwatch::group::{GroupPlan, Groups};
use outwatch::{Kind, MemoryCache, Monitor, ProxyCore, Report, Scope, State, View};
use outwatch_demo_world::World;
use tokio::task::JoinSet;

use super::api::{self, ApiArgs};
use super::cache;
use super::config::Checked;
use super::current::Current;
use super::exit::Exit;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::log::{self, Level};
use super::monitoring;
use super::output::{self, Format};
use super::progress::Progress;
use super::screen::Choosing;
use super::stream::{Stream, StreamFormat};
use super::terminal;

/// See it work: a little world of good and bad proxies, inside this process
///
/// Starts proxies on loopback that are fast, slow, flaky, dead, hanging, behind
/// another one or not to be trusted, a site to test against and a service that tells
/// where traffic comes out; writes a config for them; and monitors it. It needs no
/// network and leaves nothing behind.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// End as soon as everything has been tested, and show what came of it
    #[arg(long)]
    once: bool,
    /// How to show results [default: a live table on a terminal, else tsv; with
    /// --once a table]
    #[arg(long, value_enum)]
    format: Option<StreamFormat>,
    /// Serve the page and the API on this address, such as 127.0.0.1:9090
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address, conflicts_with = "once")]
    listen: Option<SocketAddr>,
    /// How much to log on standard error
    #[arg(long, value_enum, default_value_t = Level::Warn)]
    log_level: Level,
}

const HELP: &str = "\
Examples:
  outwatch demo                    A live table until Ctrl-C
  outwatch demo --once             One round, then the table
  outwatch demo --listen 127.0.0.1:9090
                                   And a page at http://127.0.0.1:9090/
  outwatch demo --log-level info   With the reasons for every test
  outwatch demo --format jsonl     Every result, for programs";

/// What the table cannot tell.
const STORY: &str = "
These are real proxies on loopback, tested like yours would be. `office` speaks TLS
and wants a password. `behind fast` is dialed through `fast`, and was not tested
before that had a result. `flaky` drops every second connection. `intercepted` shows
a certificate that nobody vouches for. `best` and `choice` are groups: they are not
tested themselves and show the result of the member that they lead to.

With a config of your own: outwatch test -c config.json
";

/// Carries it out.
pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let mut interrupt = Interrupt::listen()?;
    let surface = Progress::surface();
    log::start(args.log_level, args.once.then_some(&surface));
    let world = World::demo().await.map_err(|error| {
        Failure::unexpected("cannot start the little world on loopback").because(&error)
    })?;
    let text = world.config();
    let loaded = config::read("demo", text.as_bytes(), &LoadOptions::default());
    let checked = Checked::new(loaded, false)?;
    let core: Arc<dyn ProxyCore> = Arc::new(monitoring::sound_core(&checked)?);
    let component = monitoring::embedded(cache::users_code().as_ref())?;
    let groups = (!args.once).then(|| groups(&checked, core.clone()));
    let builder = monitoring::builder(&checked, core, component);
    let monitor = monitoring::start(&checked, builder).await?;
    let api = ApiArgs::on(args.listen);
    let api = api.serve(&checked.config.clash_api, &monitor, |api| match &groups {
        Some(groups) => api.groups(groups.clone()),
        None => api,
    })?;
    if let Some(api) = &api {
        let told = format!("The page is at http://{}/\n", api.address());
        terminal::stderr().write_all(told.as_bytes())?;
    }

    let title = api::title("demo", api.as_ref());
    let mut deciding = JoinSet::new();
    let choosing = groups.map(|groups| {
        let (deciders, kept) = (groups.clone(), monitor.clone());
        deciding.spawn(async move { deciders.keep(&kept).await });
        Choosing {
            groups: Arc::new(Current::new(Arc::new(groups))),
            monitor: monitor.clone(),
        }
    });
    let shown = tokio::select! {
        shown = show(&title, &monitor, choosing.as_ref(), args.format, &surface) => shown,
        () = interrupt.wished() => Ok(if args.once { Exit::Interrupted } else { Exit::Fine }),
    };
    let end = async {
        if let Some(api) = api {
            api.stop().await;
        }
        monitoring::stop(&monitor).await
    };
    tokio::select! {
        stopped = end => stopped?,
        () = interrupt.wished() => return Ok(Exit::Interrupted),
    }
    shown
}

/// The world's groups, which choose by what is measured from now on.
fn groups(checked: &Checked, core: Arc<dyn ProxyCore>) -> Groups {
    let (plans, _) = GroupPlan::of_config(&checked.config.entries);
    Groups::new(core, plans, Arc::new(MemoryCache::default()))
}

/// Shows what goes on where there is a choice, else what came of one round.
async fn show(
    title: &str,
    monitor: &Monitor,
    choosing: Option<&Choosing>,
    format: Option<StreamFormat>,
    surface: &MultiProgress,
) -> Result<Exit, Failure> {
    let Some(choosing) = choosing else {
        settle(monitor, surface).await?;
        let reports = monitor.reports(View::Confirmed).await;
        write_result(reports, format.unwrap_or(StreamFormat::Table))?;
        return Ok(Exit::Fine);
    };
    let format = format.unwrap_or_else(|| StreamFormat::fitting(StreamFormat::Tsv));
    let stream = Stream::open(format)?;
    let updates = stream.updates(monitor);
    stream.show(title, updates, choosing).await?;
    Ok(Exit::Fine)
}

/// Waits until everything has a result, and no IP lookup is still to come.
async fn settle(monitor: &Monitor, surface: &MultiProgress) -> Result<(), Failure> {
    let mut updates = monitor.subscribe(Scope::All, View::Display);
    let mut waiting: HashSet<String> = HashSet::new();
    let mut progress = None;
    while let Some(update) = updates.next().await {
        let outbounds = update
            .reports
            .iter()
            .filter(|report| report.kind != Kind::Group);
        // The first update holds them all.
        let progress = progress.get_or_insert_with(|| {
            waiting.extend(outbounds.clone().map(|report| report.tag.clone()));
            Progress::new(surface, waiting.len())
        });
        for report in outbounds.filter(|report| is_settled(report)) {
            if waiting.remove(&report.tag) {
                progress.done(report.state == State::Ok);
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
    }
    let message = "the component stopped working";
    Err(Failure::new(Exit::Component, message))
}

fn is_settled(report: &Report) -> bool {
    let tested = matches!(report.state, State::Ok | State::Failed | State::NotReady);
    tested && !report.ip_pending
}

fn write_result(mut reports: Vec<Report>, format: StreamFormat) -> Result<(), Failure> {
    output::sort(&mut reports);
    let (format, story) = match format {
        StreamFormat::Table | StreamFormat::Log => (Format::Table, STORY),
        StreamFormat::Tsv => (Format::Tsv, ""),
        StreamFormat::Jsonl => (Format::Jsonl, ""),
    };
    let width = terminal::size().map(|(width, _)| width);
    let list = format.list(&reports, width);
    terminal::stdout().write_all((list + story).as_bytes())?;
    Ok(())
}
