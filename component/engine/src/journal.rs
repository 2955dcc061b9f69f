//! The grammar of log lines (L-1). It must not know when a line is written.
//!
//! A line is `MONITORING` and then pairs, each after one space: `key=value`. A key
//! is lower-case letters and `_`. A value is a word (no space, no quote, no `=`)
//! or a JSON string in double quotes; tags, addresses and texts are always quoted.
//! The first pair is always `event`. A line holds no line break. Keys may be added,
//! never renamed:
//!
//! | event | about | keys beside `event` |
//! | --- | --- | --- |
//! | `test` | a probe of a URL test is sent | `tag reason attempt url deadline_ms` |
//! | `attempt_failed` | an asked-for test goes on | `tag kind text retry_in_ms` |
//! | `mark` | an asked-for test reached a mark | `tag running` |
//! | `miss` | shown as unavailable for now | `tag` |
//! | `result` | a test is over | `tag reason attempts state`, then `delay_ms` or `kind text` |
//! | `not_ready` | nothing was tested | `tag reason text` |
//! | `gated` | its detour comes first | `tag reason tries` |
//! | `again` | broken by a change of the network | `tag reason` |
//! | `joined` | a test of it runs already | `tag reason` |
//! | `skipped` | the cycle takes that test's result | `tag reason` |
//! | `late` | an abandoned test came back | `tag` |
//! | `cycle_start` | | `reason outbounds url` |
//! | `cycle_end` | | `ok failed waiting url` |
//! | `cycle_broken_off` | | |
//! | `next_url` | a whole cycle failed | `url failed` |
//! | `selected` | a group leads elsewhere | `tag member` |
//! | `ip_lookup`, `ip_service_failed` | one service | `tag url`, then `deadline_ms` or `kind text` |
//! | `ip` | a lookup found it | `tag ip service country time_ms` |
//! | `ip_failed` | every service failed | `tag` |
//! | `ipv6_check`, `ipv6` | | `tag`, then `url deadline_ms` or `carries` |
//! | `network_changed` | | `reason` |
//! | `idle`, `wake`, `pause`, `stopped` | | |
//! | `saved`, `outbounds` | something is odd | `text` |

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
