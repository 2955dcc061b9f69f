//! What a script left behind on one side, and how two sides differ. It must not know
//! which side a trace is of.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use similar::TextDiff;

/// How many equal lines are shown around a difference.
const CONTEXT: usize = 6;
/// How many lines of a difference are shown.
const SHOWN: usize = 80;

/// Where a line belongs. Within one millisecond only the order in a lane counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// A fetch that the core was asked for.
    Fetch,
    /// A fetch that was given up.
    Dropped,
    /// A line of the log.
    Log,
    /// A change of the saved pairs.
    Saved,
    /// The answer to the n-th test asked for.
    Answer(usize),
    /// What the n-th subscriber got.
    Reader(usize),
    /// Reports that were read.
    Reports,
}

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// Milliseconds from the start.
    pub at: u64,
    /// Where it belongs.
    pub lane: Lane,
    /// What happened.
    pub text: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>8} {:?}: {}", self.at, self.lane, self.text)
    }
}

/// Lines as they come; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<Mutex<Vec<Line>>>);

impl Trace {
    /// Adds a line.
    pub fn note(&self, at: u64, lane: Lane, text: impl Into<String>) {
        let text = text.into();
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(Line { at, lane, text });
    }

    /// The lines by time and lane; what is given up at once has no order.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        lines.sort_by(|a, b| {
            let unordered = match a.lane {
                Lane::Dropped => a.text.cmp(&b.text),
                _ => std::cmp::Ordering::Equal,
            };
            (a.at, a.lane).cmp(&(b.at, b.lane)).then(unordered)
        });
        lines
    }
}

/// An update, a report a line.
pub(super) fn update_text(reports: Vec<Value>, removed: &[String], urgent: bool) -> String {
    let reports: Vec<String> = reports
        .into_iter()
        .map(|report| format!("\n         {report}"))
        .collect();
    format!("urgent {urgent}, removed {removed:?}{}", reports.concat())
}

/// A change of the saved pairs.
pub(super) fn saved_text(delete: &[String], set: &[(String, Vec<u8>)]) -> String {
    let set: Vec<String> = set
        .iter()
        .map(|(key, value)| format!("\n         {key} = {}", String::from_utf8_lossy(value)))
        .collect();
    format!("removed {delete:?}, set{}", set.concat())
}

/// # Panics
/// When the traces differ.
pub(crate) fn compare(native: &[Line], component: &[Line]) {
    if native == component {
        return;
    }
    let lanes: BTreeSet<Lane> = native
        .iter()
        .chain(component)
        .map(|line| line.lane)
        .filter(|&lane| !of(native, lane).eq(of(component, lane)))
        .collect();
    let text = |lines: &[Line]| lines.iter().map(Line::to_string).collect::<String>();
    let (native, component) = (text(native), text(component));
    let diff = TextDiff::from_lines(&native, &component);
    let diff = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header("native", "component")
        .to_string();
    let shown: Vec<&str> = diff.lines().take(SHOWN).collect();
    panic!("the sides differ in {lanes:?}:\n{}", shown.join("\n"));
}

fn of(lines: &[Line], lane: Lane) -> impl Iterator<Item = &Line> {
    lines.iter().filter(move |line| line.lane == lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at: u64, lane: Lane) -> Line {
        let text = "text".to_owned();
        Line { at, lane, text }
    }

    #[test]
    fn lines_stand_by_time_and_lane_and_in_a_lane_as_they_came() {
        let trace = Trace::default();
        for (at, lane, text) in [
            (2, Lane::Log, "b"),
            (2, Lane::Log, "a"),
            (2, Lane::Fetch, "c"),
            (1, Lane::Reports, "d"),
        ] {
            trace.note(at, lane, text);
        }
        let texts: String = trace.lines().into_iter().map(|line| line.text).collect();
        assert_eq!(texts, "dcba");
    }

    #[test]
    #[should_panic(expected = "the sides differ in {Reader(0)}")]
    fn one_millisecond_is_a_difference() {
        let fetch = line(5, Lane::Fetch);
        let native = [fetch.clone(), line(7, Lane::Reader(0))];
        let component = [fetch, line(8, Lane::Reader(0))];
        compare(&native, &component);
    }
}
