//! Writes log lines by the grammar of docs/LOG.md (L-1). It must not know when a line
//! is written.

use alloc::string::String;
use core::fmt::{Display, Write};

use crate::action::{Action, Level};

/// Which lines are read by anybody.
#[derive(Debug)]
pub(crate) struct Journal {
    /// The least level; none of any level if there is none.
    pub(crate) least: Option<Level>,
}

/// A line under construction; none if nobody reads it.
#[derive(Debug)]
pub(crate) struct Line(Option<(Level, String)>);

impl Default for Journal {
    fn default() -> Self {
        let least = Some(Level::Debug);
        Self { least }
    }
}

impl Journal {
    /// Starts a line about an event.
    pub(crate) fn line(&self, level: Level, event: &str) -> Line {
        if self.least.is_none_or(|least| level < least) {
            return Line(None);
        }
        let mut line = String::from("MONITORING event=");
        line.push_str(event);
        Line(Some((level, line)))
    }
}

impl Line {
    /// Adds a value that needs no quotes: a number or one of the engine's words.
    pub(crate) fn word(mut self, key: &str, value: impl Display) -> Self {
        if let Some((_, line)) = &mut self.0 {
            // Writing to a string cannot fail.
            let _ = write!(line, " {key}={value}");
        }
        self
    }

    /// Adds a value of unknown content in quotes.
    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        if let Some((_, line)) = &mut self.0 {
            let quoted = serde_json::Value::from(value);
            let _ = write!(line, " {key}={quoted}");
        }
        self
    }

    pub(crate) fn finish(self) -> Option<Action> {
        let (level, line) = self.0?;
        Some(Action::Log { level, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_a_hostile_tag_stays_in_its_quotes_and_on_its_line() {
        let line = Journal::default().line(Level::Info, "test");
        let line = line.text("tag", "a\" ok=1\nb").word("attempts", 2);
        let expected = r#"MONITORING event=test tag="a\" ok=1\nb" attempts=2"#;
        assert_eq!(written(line).as_deref(), Some(expected));
    }

    #[test]
    fn l1_a_line_is_made_only_if_somebody_reads_its_level() {
        let read = |least, level| written(Journal { least }.line(level, "test")).is_some();
        assert!(read(Some(Level::Debug), Level::Debug));
        assert!(!read(Some(Level::Info), Level::Debug));
        assert!(read(Some(Level::Info), Level::Info));
        assert!(read(Some(Level::Info), Level::Warn));
        assert!(!read(None, Level::Warn));
    }

    fn written(line: Line) -> Option<String> {
        match line.finish() {
            Some(Action::Log { line, .. }) => Some(line),
            _ => None,
        }
    }
}
