//! The log on standard error: who may speak, how loud, and that it never tears
//! what is drawn on the same terminal. It must not know what is said.

use std::io::{self, Write};

use clap::ValueEnum;
use indicatif::MultiProgress;
use outwatch::api::LogLines;
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry, reload};

use super::{journal, terminal};

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Nothing
    Off,
    /// What stops it from working
    Error,
    /// And what is doubtful
    Warn,
    /// And why every test runs, with its result
    Info,
    /// And what programmers want to know
    Debug,
    /// And everything else
    Trace,
}

impl Level {
    /// What a config's `log` asks for, if anything.
    pub(crate) fn of(log: &outwatch::config::Log) -> Option<Self> {
        if log.disabled {
            return Some(Self::Off);
        }
        match log.level.as_deref()? {
            "trace" => Some(Self::Trace),
            "debug" => Some(Self::Debug),
            "info" => Some(Self::Info),
            "warn" => Some(Self::Warn),
            "error" | "fatal" | "panic" => Some(Self::Error),
            _ => None,
        }
    }

    fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

/// Starts logging. Lines wait for what is `drawn`, if anything is, to make room.
pub(crate) fn start(level: Level, drawn: Option<&MultiProgress>) {
    begin(Registry::default().with(written(level, drawn)));
}

/// The same where nothing is drawn, and lines are passed on to whoever listens, at the level that is listened at.
/// To be called within a runtime, which follows that.
pub(crate) fn start_passing_on(level: Level) -> LogLines {
    let lines = LogLines::default();
    let (filter, handle) = reload::Layer::new(filter_of(LevelFilter::OFF));
    let passed_on = fmt::layer()
        .without_time()
        .with_level(false)
        .with_target(false)
        .with_ansi(false)
        .with_writer(PassesOn(lines.clone()))
        .with_filter(filter);
    begin(
        Registry::default()
            .with(written(level, None))
            .with(passed_on),
    );
    let mut wanted = lines.wanted();
    tokio::spawn(async move {
        while wanted.changed().await.is_ok() {
            let level = *wanted.borrow_and_update();
            // It fails only once there is no log any more.
            let _ = handle.reload(filter_of(level));
        }
    });
    lines
}

fn begin(subscriber: impl Subscriber + Send + Sync) {
    // Fails only where one is set already, as in a test of several verbs.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// What people read.
fn written<S>(level: Level, drawn: Option<&MultiProgress>) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fmt::layer()
        .with_target(false)
        .with_ansi(terminal::stderr_has_colour())
        .with_writer(MakesRoom(drawn.cloned()))
        .with_filter(filter_of(level.filter()))
}

/// What libraries have to say is for programmers.
fn filter_of(level: LevelFilter) -> Targets {
    if level >= LevelFilter::DEBUG {
        Targets::new().with_default(level)
    } else {
        Targets::new().with_target("outwatch", level)
    }
}

/// Passes lines on, each with its level.
struct PassesOn(LogLines);

struct Line {
    lines: LogLines,
    level: tracing::Level,
}

impl<'a> MakeWriter<'a> for PassesOn {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line {
            lines: self.0.clone(),
            level: tracing::Level::INFO,
        }
    }

    fn make_writer_for(&'a self, of: &Metadata<'_>) -> Line {
        Line {
            level: *of.level(),
            ..self.make_writer()
        }
    }
}

impl Write for Line {
    /// A line comes in one piece.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lines.push(self.level, &String::from_utf8_lossy(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Tells whole lines while nothing is drawn.
struct MakesRoom(Option<MultiProgress>);

impl<'a> MakeWriter<'a> for MakesRoom {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> &'a Self {
        self
    }
}

impl Write for &MakesRoom {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Some(drawn) => drawn.suspend(|| journal::tell(line))?,
            None => journal::tell(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
