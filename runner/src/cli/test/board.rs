//! What is known so far of the outbounds asked for, and when it is shown.
//! It must not know how anything came to be known.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write as _};

use outwatch::{Report, State};

use crate::cli::output::{self, Format, json};
use crate::cli::tags::Asked;
use crate::cli::terminal;

/// The reports of the outbounds asked for.
pub(super) struct Board {
    asked: Asked,
    format: Format,
    /// The latest report of each: answers and updates come by two ways, and neither
    /// waits for the other.
    latest: HashMap<String, Report>,
    tested: HashSet<String>,
    waiting_for_ip: HashSet<String>,
    written: HashSet<String>,
    any_worked: bool,
}

impl Board {
    pub(super) fn new(asked: Asked, format: Format) -> Self {
        Self {
            asked,
            format,
            latest: HashMap::new(),
            tested: HashSet::new(),
            waiting_for_ip: HashSet::new(),
            written: HashSet::new(),
            any_worked: false,
        }
    }

    /// What is to be tested.
    pub(super) fn leaves(&self) -> &[String] {
        &self.asked.leaves
    }

    /// A test is over; its report may still lack the exit.
    pub(super) fn tested(&mut self, report: Report) -> io::Result<()> {
        self.any_worked |= report.state == State::Ok;
        self.tested.insert(report.tag.clone());
        self.learn(report)
    }

    /// Something changed.
    pub(super) fn updated(&mut self, reports: Vec<Report>) -> io::Result<()> {
        reports
            .into_iter()
            .try_for_each(|report| self.learn(report))
    }

    /// Takes a report unless a newer one is known, and shows what is complete.
    fn learn(&mut self, report: Report) -> io::Result<()> {
        let tag = report.tag.clone();
        let latest = match self.latest.remove(&tag) {
            Some(known) if known.revision > report.revision => known,
            _ => report,
        };
        let tested = self.tested.contains(&tag);
        if tested && latest.ip_pending {
            self.waiting_for_ip.insert(tag.clone());
        } else if tested {
            self.waiting_for_ip.remove(&tag);
            self.write_line(&latest)?;
        }
        self.latest.insert(tag, latest);
        Ok(())
    }

    /// Whether it is not yet known where one of those that work comes out.
    pub(super) fn waits_for_ip(&self) -> bool {
        !self.waiting_for_ip.is_empty()
    }

    /// Whether one of those tested works.
    pub(super) fn any_worked(&self) -> bool {
        self.any_worked
    }

    /// Shows everything that is not shown yet.
    pub(super) fn conclude(&mut self, mut reports: Vec<Report>) -> io::Result<()> {
        reports.retain(|report| self.asked.shown.contains(&report.tag));
        output::sort(&mut reports);
        if self.format == Format::Jsonl {
            return reports
                .iter()
                .try_for_each(|report| self.write_line(report));
        }
        let width = terminal::size().map(|(width, _)| width);
        terminal::stdout().write_all(self.format.list(&reports, width).as_bytes())
    }

    /// With `jsonl`, what is complete is shown at once, each only once.
    fn write_line(&mut self, report: &Report) -> io::Result<()> {
        if self.format != Format::Jsonl || !self.written.insert(report.tag.clone()) {
            return Ok(());
        }
        let mut stdout = terminal::stdout();
        stdout.write_all(json::line(report).as_bytes())?;
        stdout.flush()
    }
}
