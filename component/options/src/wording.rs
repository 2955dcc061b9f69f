//! How keys and values are called in messages to people. It must not know what
//! they are for.

use crate::json::Json;

/// Longer texts are cut in messages, in characters.
const SHOWN: usize = 80;
/// Further apart than this, two words are not a slip of the finger.
const SLIP: usize = 2;

/// A text in double quotes, on one line, cut when it is long.
pub(crate) fn quoted(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown = String::from('"');
    for c in chars.by_ref().take(SHOWN) {
        // Nothing that could move a cursor or turn the direction of writing.
        match c {
            '"' | '\\' => shown.extend(['\\', c]),
            _ if c.is_control() || turns_direction(c) => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    shown + "\""
}

/// What a value is, for `(found …)`.
pub(crate) fn found(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(value) => value.to_string(),
        Json::Text(value) => quoted(value),
        Json::List(items) if items.is_empty() => "an empty list".to_owned(),
        Json::List(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}

/// The path of a key inside `path`: `.key`, or `["key"]` when it is no plain
/// word.
pub(crate) fn key_path(path: &str, key: &str) -> String {
    let plain = key
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    match plain && !key.is_empty() {
        true if path.is_empty() => key.to_owned(),
        true => format!("{path}.{key}"),
        false => format!("{path}[{}]", quoted(key)),
    }
}

/// The candidate that a word was probably meant to be.
pub(crate) fn meant<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    known
        .map(|candidate| (strsim::osa_distance(&word, candidate), candidate))
        // In a short word two slips make another word.
        .filter(|(distance, candidate)| *distance <= SLIP.min(candidate.len() / 3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_a_value_is_quoted_on_one_line_and_cut() {
        assert_eq!(quoted("5 min"), r#""5 min""#);
        assert_eq!(quoted("a\"b\\c"), r#""a\"b\\c""#);
        assert_eq!(
            quoted("a\n\u{1b}[31m\u{202e}"),
            r#""a\u{a}\u{1b}[31m\u{202e}""#
        );
        assert_eq!(quoted(&"é".repeat(100)), format!("\"{}…\"", "é".repeat(80)));
    }

    #[test]
    fn f3_a_key_that_is_no_plain_word_stands_in_brackets() {
        assert_eq!(key_path("", "workers"), "workers");
        assert_eq!(key_path("ipv6_declared", "de-1"), "ipv6_declared.de-1");
        assert_eq!(key_path("ipv6_declared", "a b"), r#"ipv6_declared["a b"]"#);
        assert_eq!(key_path("ipv6_declared", "a.b"), r#"ipv6_declared["a.b"]"#);
        assert_eq!(key_path("ipv6_declared", "🇩🇪"), r#"ipv6_declared["🇩🇪"]"#);
        assert_eq!(key_path("", ""), r#"[""]"#);
    }

    #[test]
    fn f4_a_slip_is_recognised_and_another_word_is_not() {
        let meant = |word| meant(word, ["interval", "urls", "workers"].into_iter());
        assert_eq!(meant("wrokers"), Some("workers"));
        assert_eq!(meant("Workers"), Some("workers"));
        assert_eq!(meant("worker"), Some("workers"));
        assert_eq!(meant("url"), Some("urls"));
        assert_eq!(meant("intervall"), Some("interval"));
        assert_eq!(meant("uri"), None);
        assert_eq!(meant("speed"), None);
        assert_eq!(meant(""), None);
    }
}
