//! `outwatch demo`: a little world on loopback, monitored like a real one.
//! It must not do anything that `run` could not do with a config.

use std::io::Write as _;
use std::net::SocketAddr;

use indicatif::MultiProgress;
use outwatch::config::{self, LoadOptions, listen_address};
use outwatch::{Kind, Monitor, Report, Scope, State, View};
use outwatch_demo_world::World;

use super::api::ApiArgs;
use super::cache;
use super::config::Checked;
use super::exit::Exit;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::live::Live;
use super::log::{self, Level};
use super::monitoring;
use super::output::{self, Format};
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
    let surface = Live::surface();
    log::start(args.log_level, &surface);
    let world = World::demo().await.map_err(|error| {
        Failure::unexpected("cannot start the little world on loopback").because(&error)
    })?;
    let text = world.config();
    let loaded = config::read("demo", text.as_bytes(), &LoadOptions::default());
    let checked = Checked::new(loaded, false)?;
    let core = monitoring::sound_core(&checked)?;
    let component = monitoring::embedded(cache::users_code().as_ref())?;
    let builder = monitoring::builder(&checked, core, component);
    let monitor = monitoring::start(&checked, builder).await?;
    let api = ApiArgs::on(args.listen);
    let api = api.serve(&checked.config.clash_api, &monitor, |api| api)?;
    if let Some(api) = &api {
        let told = format!("The page is at http://{}/\n", api.address());
        terminal::stderr().write_all(told.as_bytes())?;
    }

    let shown = tokio::select! {
        shown = show(&monitor, args, &surface) => shown,
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

/// Shows what goes on, or with `--once` what came of it.
async fn show(monitor: &Monitor, args: &Args, surface: &MultiProgress) -> Result<Exit, Failure> {
    let fitting = if terminal::is_watched() {
        StreamFormat::Table
    } else {
        StreamFormat::Tsv
    };
    let stream = match (args.once, args.format) {
        (false, format) => Some(Stream::open(format.unwrap_or(fitting), surface)?),
        (true, _) if terminal::is_watched() => Some(Stream::open(StreamFormat::Table, surface)?),
        (true, _) => None,
    };
    let until = if args.once { all_settled } else { never };
    let reports = watch(monitor, stream, until).await?;
    if args.once {
        write_result(reports, args.format.unwrap_or(StreamFormat::Table))?;
    }
    Ok(Exit::Fine)
}

/// Shows updates until the reports are as wanted; gives them.
async fn watch(
    monitor: &Monitor,
    mut stream: Option<Stream>,
    until: fn(&[Report]) -> bool,
) -> Result<Vec<Report>, Failure> {
    let view = stream.as_ref().map_or(View::Display, Stream::view);
    let mut updates = monitor.subscribe(Scope::All, view);
    while let Some(update) = updates.next().await {
        if let Some(stream) = &mut stream {
            stream.show(update)?;
        }
        if until(&monitor.reports(View::Display).await) {
            return Ok(monitor.reports(View::Confirmed).await);
        }
    }
    Err(Failure::new(
        Exit::Component,
        "the component stopped working",
    ))
}

fn never(_: &[Report]) -> bool {
    false
}

/// Whether everything has a result, and no IP lookup is still to come.
fn all_settled(reports: &[Report]) -> bool {
    reports
        .iter()
        .filter(|report| report.kind != Kind::Group)
        .all(|report| {
            let tested = matches!(report.state, State::Ok | State::Failed | State::NotReady);
            tested && !report.ip_pending
        })
}

fn write_result(mut reports: Vec<Report>, format: StreamFormat) -> Result<(), Failure> {
    output::sort(&mut reports);
    let (format, story) = match format {
        StreamFormat::Table => (Format::Table, STORY),
        StreamFormat::Tsv => (Format::Tsv, ""),
        StreamFormat::Jsonl => (Format::Jsonl, ""),
    };
    let width = terminal::size().map(|(width, _)| width);
    let list = format.list(&reports, width);
    terminal::stdout().write_all((list + story).as_bytes())?;
    Ok(())
}
