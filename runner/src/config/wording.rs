//! How values of a config are called in messages to people. It must not know
//! what they are used for.

use serde_json::Value;

/// Longer texts are cut in messages.
const SHOWN: usize = 80;

/// Further apart than this, two words are not a slip of the finger.
const SLIP: usize = 2;

/// `text` without anything that could move a terminal's cursor or turn its
/// direction of writing.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .fold(String::with_capacity(text.len()), |mut line, c| {
            match c {
                c if c.is_control() || turns_direction(c) => line.extend(c.escape_unicode()),
                c => line.push(c),
            }
            line
        })
}

/// `text` in double quotes, on one line, cut when it is long.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text))
}

/// `text` on one line, cut when it is long.
pub(super) fn cut(text: &str) -> String {
    let mut chars = text.chars();
    let shown: String = chars.by_ref().take(SHOWN).collect();
    let dots = if chars.next().is_some() { "…" } else { "" };
    format!("{}{dots}", printable(&shown))
}

/// What `value` is, for "(found ...)".
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(value) => quoted(value),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// The path of `key` inside `path`.
pub(super) fn field(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// The candidate that `word` was probably meant to be; the first of the closest.
pub(super) fn meant<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let length = word.chars().count();
    // Half of a short word is another word.
    let slip = SLIP.min(length / 2);
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= slip)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= slip)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many slips are between two words; a difference in case is none.
fn distance(a: &str, b: &str) -> usize {
    if a.to_lowercase() == b.to_lowercase() {
        0
    } else {
        strsim::osa_distance(a, b)
    }
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
