//! The log on standard error: who may speak, how loud, and that it never tears
//! what is drawn on the same terminal. It must not know what is said.

use std::io::{self, Write};

use clap::ValueEnum;
use indicatif::MultiProgress;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::terminal;

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

    fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Starts logging. Lines wait for what `drawn` draws to make room.
pub(crate) fn start(level: Level, drawn: &MultiProgress) {
    // What libraries have to say is for programmers.
    let filter = match level {
        Level::Debug | Level::Trace => level.as_str().to_owned(),
        _ => format!("off,outwatch={}", level.as_str()),
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_target(false)
        .with_ansi(terminal::stderr_has_colour())
        .with_writer(MakesRoom(drawn.clone()))
        .finish();
    // Fails only where one is set already, as in a test of several verbs.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Writes whole lines to standard error while nothing is drawn.
struct MakesRoom(MultiProgress);

impl<'a> MakeWriter<'a> for MakesRoom {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> &'a Self {
        self
    }
}

impl Write for &MakesRoom {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(line))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
