//! What goes on, on standard output as it comes: lines for programs, a live table for
//! people, or nothing beside the log. It must not know what is monitored.

use std::collections::HashMap;
use std::io::{self, Write as _};

use clap::ValueEnum;
use outwatch::{Monitor, Report, Scope, Updates, View};

use super::exit::Exit;
use super::failure::Failure;
use super::output::{json, tsv};
use super::screen::{self, Choosing};
use super::terminal;

/// How updates are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StreamFormat {
    /// A live table to look around in; takes the whole terminal, with the log in it
    Table,
    /// Not at all: the log alone
    Log,
    /// Tab-separated, one line per change, after a header
    Tsv,
    /// One JSON object per line and change
    Jsonl,
}

/// Where updates go.
pub(crate) enum Stream {
    /// To a live table.
    Table,
    /// Nowhere.
    Nowhere,
    /// Into lines.
    Lines(fn(&Report) -> String),
}

impl StreamFormat {
    /// What suits the reader: a live table for a person, else this.
    pub(crate) fn fitting(otherwise: Self) -> Self {
        if terminal::is_interactive() {
            Self::Table
        } else {
            otherwise
        }
    }
}

impl Stream {
    /// Opens the way to standard output.
    ///
    /// # Errors
    /// When a live table is wanted where nobody looks.
    pub(crate) fn open(format: StreamFormat) -> Result<Self, Failure> {
        match format {
            StreamFormat::Table if terminal::is_interactive() => Ok(Self::Table),
            StreamFormat::Table => {
                let message = "a live table needs a terminal, for keys and for what is drawn";
                Err(Failure::new(Exit::Usage, message)
                    .hint("use `--format tsv` or `--format jsonl`"))
            }
            StreamFormat::Log => Ok(Self::Nowhere),
            StreamFormat::Tsv => {
                terminal::stdout().write_all(tsv::header().as_bytes())?;
                Ok(Self::Lines(tsv::line))
            }
            StreamFormat::Jsonl => Ok(Self::Lines(json::line)),
        }
    }

    /// The updates that it shows, from now on: people see misses and running tests,
    /// programs see finished results.
    pub(crate) fn updates(&self, monitor: &Monitor) -> Option<Updates> {
        let view = match self {
            Self::Table => View::Display,
            Self::Nowhere => return None,
            Self::Lines(_) => View::Confirmed,
        };
        Some(monitor.subscribe(Scope::All, view))
    }

    /// Shows them until the monitor ends, or a person wants no more. `name` is what the
    /// config is called.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) async fn show(
        self,
        name: &str,
        updates: Option<Updates>,
        choosing: &Choosing,
    ) -> Result<(), Failure> {
        match (self, updates) {
            (Self::Table, Some(updates)) => Ok(screen::show(name, updates, choosing).await?),
            (Self::Lines(line), Some(updates)) => Ok(lines(line, updates).await?),
            // Why it ended is told when it is stopped.
            _ => {
                let _ = choosing.monitor.ended().await;
                Ok(())
            }
        }
    }
}

/// Writes a line for each change; what reads the same is not repeated.
async fn lines(line: fn(&Report) -> String, mut updates: Updates) -> io::Result<()> {
    let mut last: HashMap<String, String> = HashMap::new();
    while let Some(update) = updates.next().await {
        let mut stdout = terminal::stdout().lock();
        for report in &update.reports {
            let line = line(report);
            if last.get(&report.tag) != Some(&line) {
                stdout.write_all(line.as_bytes())?;
                last.insert(report.tag.clone(), line);
            }
        }
        stdout.flush()?;
    }
    Ok(())
}
