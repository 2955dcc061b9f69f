//! Updates as they come, on standard output: lines for programs, a live table for
//! people. It must not know what is monitored.

use std::collections::HashMap;
use std::io::{self, Write as _};

use clap::ValueEnum;
use indicatif::MultiProgress;
use outwatch::{Report, Update, View};

use super::exit::Exit;
use super::failure::Failure;
use super::live::Live;
use super::output::{json, tsv};
use super::terminal;

/// How updates are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StreamFormat {
    /// A table that redraws itself; needs a terminal
    Table,
    /// Tab-separated, one line per change, after a header
    Tsv,
    /// One JSON object per line and change
    Jsonl,
}

/// Where updates go.
pub(crate) enum Stream {
    /// A live table, with the latest report of each outbound in config order.
    Table(Live, Vec<Report>),
    /// Lines, with the last one of each tag: what reads the same is not repeated.
    Lines(fn(&Report) -> String, HashMap<String, String>),
}

impl Stream {
    /// Opens the way to standard output.
    ///
    /// # Errors
    /// When a live table is wanted where nobody looks.
    pub(crate) fn open(format: StreamFormat, surface: &MultiProgress) -> Result<Self, Failure> {
        match format {
            StreamFormat::Table if terminal::is_watched() => {
                Ok(Self::Table(Live::new(surface), Vec::new()))
            }
            StreamFormat::Table => {
                let message = "a live table needs a terminal, and standard output is none";
                Err(Failure::new(Exit::Usage, message)
                    .hint("use `--format tsv` or `--format jsonl`"))
            }
            StreamFormat::Tsv => {
                terminal::stdout().write_all(tsv::header().as_bytes())?;
                Ok(Self::Lines(tsv::line, HashMap::new()))
            }
            StreamFormat::Jsonl => Ok(Self::Lines(json::line, HashMap::new())),
        }
    }

    /// The view that it shows: people see misses and running tests, programs see
    /// finished results.
    pub(crate) fn view(&self) -> View {
        match self {
            Self::Table(..) => View::Display,
            Self::Lines(..) => View::Confirmed,
        }
    }

    /// Shows an update.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn show(&mut self, update: Update) -> io::Result<()> {
        match self {
            Self::Table(live, known) => {
                known.retain(|report| !update.removed.contains(&report.tag));
                for report in update.reports {
                    match known.iter_mut().find(|known| known.tag == report.tag) {
                        Some(known) => *known = report,
                        None => known.push(report),
                    }
                }
                live.show(known.clone());
                Ok(())
            }
            Self::Lines(line, last) => {
                let mut stdout = terminal::stdout().lock();
                for report in &update.reports {
                    let line = line(report);
                    if last.get(&report.tag) != Some(&line) {
                        stdout.write_all(line.as_bytes())?;
                        last.insert(report.tag.clone(), line);
                    }
                }
                stdout.flush()
            }
        }
    }
}
