//! Makes strings from configs and networks harmless to a terminal, and visible.
//! It must not know what the strings mean.

use std::fmt::Write as _;

/// The text on one line: control characters, line breaks, invisible and
/// direction-changing characters are written as escapes such as `\u{1b}`. After
/// right-to-left letters a mark follows that keeps what comes next in its place.
pub(crate) fn line(text: &str) -> String {
    let mut shown = escape(text, |c| is_unsafe(c) || c == '\n');
    if shown.chars().any(is_right_to_left) {
        shown.push(LEFT_TO_RIGHT_MARK);
    }
    shown
}

/// Like [`line`], but line breaks stay.
pub(crate) fn lines(text: &str) -> String {
    escape(text, |c| is_unsafe(c) && c != '\n')
}

/// One field of a TSV line. A backslash begins an escape (`\t`, `\n`, `\r`, `\\`,
/// `\u{1b}`), so that the text can be got back.
pub(crate) fn field(text: &str) -> String {
    escape(text, |c| is_unsafe(c) || c == '\\')
}

/// What a text with right-to-left letters ends with.
pub(crate) const LEFT_TO_RIGHT_MARK: char = '\u{200e}';

fn escape(text: &str, unsafe_char: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if !unsafe_char(c) {
            escaped.push(c);
        } else if let '\t' | '\n' | '\r' | '\\' = c {
            escaped.extend(c.escape_default());
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
        }
    }
    escaped
}

/// Whether a character moves the cursor, hides, or turns the direction of text.
/// The joiner of emoji and of some scripts (U+200D, U+200C) is not one.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Hebrew, Arabic and their relatives.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_in_tags_stays_as_it_is() {
        for tag in ["🇩🇪 Frankfurt", "a/b#c%20", "日本 1", "👨‍👩‍👧", "Zürich \\o/"]
        {
            assert_eq!(line(tag), tag);
        }
    }

    #[test]
    fn nothing_can_move_the_cursor_or_turn_the_text() {
        assert_eq!(line("\u{1b}[31mred\u{7}"), r"\u{1b}[31mred\u{7}");
        assert_eq!(line("a\u{9b}2J"), r"a\u{9b}2J");
        assert_eq!(line("gpj\u{202e}exe"), r"gpj\u{202e}exe");
        assert_eq!(line("two\nlines\tand a tab"), r"two\nlines\tand a tab");
    }

    #[test]
    fn text_after_right_to_left_letters_keeps_its_place() {
        assert_eq!(line("سرور"), "سرور\u{200e}");
    }

    #[test]
    fn a_tsv_field_can_be_read_back() {
        assert_eq!(field("a\\b\tc\nd\u{1b}"), r"a\\b\tc\nd\u{1b}");
    }
}
