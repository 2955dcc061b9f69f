//! Says in words for people why a text is no JSON, what was expected, and what to
//! do. It must not know what a config may hold.

use jsonc_parser::ParseStringErrorKind;
use jsonc_parser::common::Range;
use jsonc_parser::errors::{ParseError, ParseErrorKind};

use super::Fault;
use super::outline::Outline;
use crate::config::lines::Lines;
use crate::config::wording::cut;

/// What the parser's `error` means, and where.
pub(super) fn fault(text: &str, error: &ParseError) -> Fault {
    let at = error.range().start;
    let outline = Outline::at(text, at);
    let path = outline.path();
    // A quote forgotten lines above is what is wrong with what comes after it.
    let torn = outline
        .torn_string
        .and_then(|range| raw_control(text, range));
    let fault = torn.unwrap_or_else(|| {
        let (message, hint) = words(text, error, &outline);
        Fault {
            hint,
            ..Fault::new(at, message, "")
        }
    });
    Fault { path, ..fault }
}

/// What is wrong with the string at `range` if it holds a character that JSON
/// wants escaped.
pub(super) fn raw_control(text: &str, range: Range) -> Option<Fault> {
    let raw = text.get(range.start..range.end)?;
    let (at, control) = raw.char_indices().find(|(_, c)| *c < ' ')?;
    Some(match control {
        '\n' | '\r' => unclosed_string(range.start),
        _ => Fault::new(
            range.start + at,
            format!(
                "a string holds the control character U+{:04X}",
                u32::from(control)
            ),
            format!("remove it, or write it as \\u{:04x}", u32::from(control)),
        ),
    })
}

fn unclosed_string(at: usize) -> Fault {
    Fault::new(
        at,
        "this string is not closed on its line",
        "put a `\"` at its end; a line break inside a string is written \\n",
    )
}

/// Message and hint.
fn words(text: &str, error: &ParseError, outline: &Outline) -> (String, Option<String>) {
    use ParseErrorKind as Kind;
    let token = token(text, error.range().start);
    let (message, hint) = match error.kind() {
        Kind::ExpectedComma => (
            "expected a comma after this value".to_owned(),
            "put a `,` between two values",
        ),
        Kind::ExpectedColonAfterObjectKey => (
            format!("expected a `:` after the key, found {token}"),
            "write `\"key\": value`",
        ),
        Kind::ExpectedObjectValue => (
            format!("expected a value after the `:`, found {token}"),
            "write `\"key\": value`",
        ),
        Kind::ExpectedStringObjectProperty => (
            format!("expected a key in double quotes, found {token}"),
            "write `\"key\": value`",
        ),
        Kind::SingleQuotedStringsNotAllowed => (
            "expected double quotes, found a single quote".to_owned(),
            "write `\"text\"` in place of `'text'`",
        ),
        Kind::UnexpectedCloseBrace | Kind::UnexpectedCloseBracket => {
            wrong_close(text, &token, outline)
        }
        Kind::UnexpectedTokenInObject if token == "`]`" => wrong_close(text, &token, outline),
        Kind::UnexpectedTokenInObject => (
            format!("expected a key in double quotes or a `}}`, found {token}"),
            "an object is `{ \"key\": value, \"key\": value }`",
        ),
        Kind::UnexpectedComma => (
            format!("expected a value, found {token}"),
            "remove the `,`, or put a value before it",
        ),
        Kind::UnexpectedColon => (
            format!("expected a value or a `,`, found {token}"),
            "`\"key\": value` stands between `{` and `}`, not between `[` and `]`",
        ),
        Kind::UnexpectedWord => (
            format!("expected a value, found {token}"),
            "text stands in double quotes; `true`, `false` and `null` are in small letters",
        ),
        Kind::UnexpectedToken => (
            format!("expected a value, found {token}"),
            "a value is a text in double quotes, a number, true, false, null, `[...]` or `{...}`",
        ),
        Kind::MultipleRootJsonValues if matches!(token.as_str(), "`}`" | "`]`") => (
            format!("{token} closes nothing"),
            "is there one too many, here or before?",
        ),
        Kind::MultipleRootJsonValues => (
            format!("expected the end of the file, found {token}"),
            "a config is one object; is it closed too early?",
        ),
        Kind::UnterminatedObject => ("this `{` is never closed".to_owned(), INCOMPLETE),
        Kind::UnterminatedArray => ("this `[` is never closed".to_owned(), INCOMPLETE),
        Kind::UnterminatedCommentBlock => (
            "this comment is never closed".to_owned(),
            "end it with `*/`",
        ),
        Kind::NestingDepthExceeded => (
            "lists and objects are nested too deep".to_owned(),
            "no config needs more than ten levels; is a bracket missing?",
        ),
        Kind::String(ParseStringErrorKind::UnterminatedStringLiteral) => (
            "this string is not closed".to_owned(),
            "put a `\"` at its end",
        ),
        Kind::String(_) => (
            format!(
                "this is no escape sequence: {}",
                escape(text, error.range().start)
            ),
            "allowed are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX (in pairs for emoji); \
             a backslash itself is written \\\\",
        ),
        Kind::ExpectedDigit
        | Kind::ExpectedDigitFollowingNegativeSign
        | Kind::ExpectedPlusMinusOrDigitInNumberLiteral => {
            ("expected a digit of a number here".to_owned(), NUMBER)
        }
        Kind::BareDecimalPointNumbersNotAllowed
        | Kind::HexadecimalNumbersNotAllowed
        | Kind::UnaryPlusNumbersNotAllowed
        | Kind::NonFiniteNumbersNotAllowed => (format!("expected a number, found {token}"), NUMBER),
        other => return (other.to_string(), None),
    };
    (message, Some(hint.to_owned()))
}

const NUMBER: &str = "a number is like 5, -5, 0.5 or 1e5; text stands in double quotes";

const INCOMPLETE: &str = "the file ends before; is it complete?";

/// For a bracket that closes one of the other kind, or none.
fn wrong_close(text: &str, token: &str, outline: &Outline) -> (String, &'static str) {
    let Some(open) = outline.innermost() else {
        return (
            format!("expected a value, found {token}"),
            "is there one too many?",
        );
    };
    let line = Lines::new(text).position(text, open.at).line;
    let bracket = text.get(open.at..=open.at).unwrap_or_default();
    if matches!((bracket, token), ("{", "`}`") | ("[", "`]`")) {
        return (
            format!("expected a value, found {token}"),
            "put a value before it",
        );
    }
    (
        format!("{token} cannot close the `{bracket}` of line {line}"),
        "close brackets in the order they were opened, each with its own kind",
    )
}

/// The word or sign at `at`, to be shown.
fn token(text: &str, at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let Some(first) = rest.chars().next() else {
        return "the end of the file".to_owned();
    };
    let belongs = |c: char| c.is_alphanumeric() || "+-._$".contains(c);
    let end = match first {
        '"' => rest
            .get(1..)
            .and_then(|inner| inner.find('"'))
            .map_or(rest.len(), |end| end + 2),
        c if belongs(c) => rest.find(|c| !belongs(c)).unwrap_or(rest.len()),
        c => c.len_utf8(),
    };
    format!("`{}`", cut(rest.get(..end).unwrap_or_default()))
}

/// The escape sequence at `at`, to be shown.
fn escape(text: &str, at: usize) -> String {
    let rest: String = text.get(at..).unwrap_or_default().chars().take(6).collect();
    let length = if rest.starts_with("\\u") { 6 } else { 2 };
    cut(&rest
        .chars()
        .take(length)
        .take_while(|c| *c != '"')
        .collect::<String>())
}
