//! What the tests of the reader share: reading, and putting problems on lines.
//! It must not hold an expectation.

mod accepted;
mod refused;

use std::time::Duration;

use outwatch_engine::{ExpectedStatus, StatusRange};

use super::*;

#[track_caller]
fn options(text: &str) -> Options {
    let (options, warnings) = read(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(warnings, [], "from {text}");
    options
}

/// One line a problem: path, message, and hint after a bar.
fn lines(problems: &[Problem]) -> Vec<String> {
    let line =
        |Problem {
             path,
             message,
             hint,
         }: &Problem| { format!("{path}: {message} | {}", hint.as_deref().unwrap_or("-")) };
    problems.iter().map(line).collect()
}

#[track_caller]
fn refuse(text: &str, expected: &[&str]) {
    let problems = read(text).expect_err("refused");
    assert_eq!(lines(&problems), expected, "from {text}");
}

#[track_caller]
fn warn(text: &str, expected: &[&str]) {
    let (options, warnings) = read(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(lines(&warnings), expected, "from {text}");
    assert_eq!(options, Options::default(), "from {text}");
}
