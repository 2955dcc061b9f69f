//! The import `log`: the component's lines become `tracing` events, each under the
//! target of the part that wrote it. It must not trust the text.

use tracing::level_filters::LevelFilter;
use tracing::{debug, error, info, trace, warn};

use super::HostState;
use crate::engine::limits::Admission;
use crate::engine::v0_1::log::{self, Level};

/// The longest line that is passed on, in characters.
const LINE: usize = 4096;

/// Targets are constants of `tracing`, so each needs its own event. A line that nobody
/// reads is not made.
macro_rules! event {
    ($target:literal, $level:expr, $line:expr) => {
        match $level {
            Level::Trace => trace!(target: $target, "{}", $line()),
            Level::Debug => debug!(target: $target, "{}", $line()),
            Level::Info => info!(target: $target, "{}", $line()),
            Level::Warn => warn!(target: $target, "{}", $line()),
            Level::Error | Level::Critical => error!(target: $target, "{}", $line()),
        }
    };
}

impl log::Host for HostState {
    fn least_level(&mut self) -> Option<Level> {
        // Of all of the process: some lines are made for nobody, none is missing.
        let level = LevelFilter::current().into_level()?;
        Some(match level {
            tracing::Level::TRACE => Level::Trace,
            tracing::Level::DEBUG => Level::Debug,
            tracing::Level::INFO => Level::Info,
            tracing::Level::WARN => Level::Warn,
            tracing::Level::ERROR => Level::Error,
        })
    }

    fn log(&mut self, level: Level, context: String, message: String) {
        let admission = self.log.admit();
        let line = || match admission {
            Admission::Admitted => one_line(&message),
            _ => "the component floods the log; lines are dropped".to_owned(),
        };
        if admission == Admission::Dropped {
            return;
        }
        match context.as_str() {
            "monitoring" => event!("outwatch::monitoring", level, line),
            "lowest" => event!("outwatch::lowest", level, line),
            "cache" => event!("outwatch::cache", level, line),
            "panic" => event!("outwatch::panic", level, line),
            _ => event!("outwatch::engine", level, line),
        }
    }
}

/// A guest's text cannot start a line of its own, nor speak to a terminal.
fn one_line(message: &str) -> String {
    let safe = |c: char| if c.is_control() { ' ' } else { c };
    message.chars().take(LINE).map(safe).collect()
}
