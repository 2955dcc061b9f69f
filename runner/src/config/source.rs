//! A config's text as people see it: where a problem is, and how problems are
//! shown. It must not know what is wrong with what.

use std::fmt::{self, Write};
use std::sync::OnceLock;

use super::lines::Lines;
use super::places::Place;
use super::syntax;
use super::wording::printable;
use crate::report::{Problem, Severity};

pub use super::lines::Position;

/// More problems than this are counted, not shown.
const SHOWN: usize = 100;

/// A config's name and text, which know where a path such as
/// `outbounds[3].tls.alpn[0]` stands.
pub struct Source {
    name: String,
    text: String,
    /// Where the text stops being JSON.
    broken_at: Option<usize>,
    /// Made when something is wrong, not before.
    map: OnceLock<Map>,
}

struct Map {
    lines: Lines,
    /// None when the text is no JSON.
    root: Option<Place>,
}

impl Source {
    pub(super) fn new(name: &str, text: String) -> Self {
        Self {
            name: name.to_owned(),
            text,
            broken_at: None,
            map: OnceLock::new(),
        }
    }

    /// A text that is no JSON from the byte `at` on.
    pub(super) fn broken(name: &str, text: String, at: usize) -> Self {
        Self {
            broken_at: Some(at),
            ..Self::new(name, text)
        }
    }

    /// A file that could not be read.
    pub(super) fn unread(name: &str) -> Self {
        Self::new(name, String::new())
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the value at `path` begins, with its key; where there is none, the
    /// nearest value around it. None when the file could not be read.
    pub fn position(&self, path: &str) -> Option<Position> {
        self.offset(path)
            .map(|at| self.map().lines.position(&self.text, at))
    }

    /// The problems in the order of the file, one a line with its hint below:
    ///
    /// ```text
    /// config.json:4:7: error: outbounds[1].detour: there is no outbound "jp"
    ///   hint: did you mean "jp-1"?
    /// ```
    ///
    /// Of more than 100, those that are errors come first; the rest is counted.
    pub fn render(&self, problems: &[Problem]) -> String {
        let mut order: Vec<_> = problems
            .iter()
            .map(|problem| (problem.severity, self.offset(&problem.path), problem))
            .collect();
        if order.len() > SHOWN {
            order.sort_by_key(|(severity, at, _)| (*severity, *at));
            order.truncate(SHOWN);
        }
        order.sort_by_key(|(severity, at, _)| (*at, *severity));
        let mut shown = String::new();
        for (_, at, problem) in order {
            // Writing to a string cannot fail.
            let _ = self.line(&mut shown, at, problem);
        }
        if let Some(more) = problems.len().checked_sub(SHOWN + 1) {
            let _ = writeln!(shown, "... and {} more", more + 1);
        }
        shown
    }

    fn line(&self, out: &mut String, at: Option<usize>, problem: &Problem) -> fmt::Result {
        let Problem {
            severity,
            path,
            message,
            hint,
        } = problem;
        out.push_str(&printable(&self.name));
        if let Some(at) = at {
            let Position { line, column } = self.map().lines.position(&self.text, at);
            write!(out, ":{line}:{column}")?;
        }
        out.push_str(match severity {
            Severity::Error => ": error: ",
            Severity::Warning => ": warning: ",
        });
        if !path.is_empty() {
            write!(out, "{}: ", printable(path))?;
        }
        writeln!(out, "{}", printable(message))?;
        match hint {
            Some(hint) => writeln!(out, "  hint: {}", printable(hint)),
            None => Ok(()),
        }
    }

    fn offset(&self, path: &str) -> Option<usize> {
        self.broken_at
            .or_else(|| self.map().root.as_ref().map(|root| root.find(path)))
    }

    fn map(&self) -> &Map {
        self.map.get_or_init(|| Map {
            lines: Lines::new(&self.text),
            root: syntax::ast(&self.text).ok().flatten().map(Place::of),
        })
    }
}

/// Without the text, which holds passwords.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}
