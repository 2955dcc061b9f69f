//! Writes log lines by the grammar of docs/LOG.md (L-1). It must not know when a line
//! is written.

use alloc::string::String;
use core::fmt::{Display, Write};

/// A line under construction.
#[derive(Debug)]
pub(crate) struct Line(String);

impl Line {
    /// Starts a line about an event.
    pub(crate) fn new(event: &str) -> Self {
        let mut line = String::from("MONITORING event=");
        line.push_str(event);
        Self(line)
    }

    /// Adds a value that needs no quotes: a number or one of the engine's words.
    pub(crate) fn word(mut self, key: &str, value: impl Display) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {key}={value}");
        self
    }

    /// Adds a value of unknown content in quotes.
    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        let quoted = serde_json::Value::from(value);
        let _ = write!(self.0, " {key}={quoted}");
        self
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_a_hostile_tag_stays_in_its_quotes_and_on_its_line() {
        let line = Line::new("test")
            .text("tag", "a\" ok=1\nb")
            .word("attempts", 2)
            .finish();
        assert_eq!(
            line,
            r#"MONITORING event=test tag="a\" ok=1\nb" attempts=2"#
        );
    }
}
