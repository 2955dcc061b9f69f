//! Makes text from a network fit to be shown: one line, bounded, and without
//! anything that a terminal would obey. It must not know what the text is about.

use alloc::string::String;
use core::iter::Peekable;
use core::str::Chars;

/// The text on one line without surrounding space, control characters, terminal
/// escape sequences and marks that reorder what is read; at most `max_chars`
/// characters of it. Line breaks and tabs become single spaces.
pub(crate) fn clean(text: &str, max_chars: usize) -> String {
    let mut kept = String::new();
    let mut count = 0;
    let mut chars = text.chars().peekable();
    while count < max_chars {
        let Some(next) = chars.next() else { break };
        let shown = match next {
            '\u{1b}' | '\u{80}'..='\u{9f}' => {
                skip_sequence(next, &mut chars);
                continue;
            }
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' if kept.ends_with(' ') => continue,
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => ' ',
            _ if next.is_control() || reorders(next) => continue,
            _ => next,
        };
        if kept.is_empty() && (shown.is_whitespace() || shown == '\u{feff}') {
            continue;
        }
        kept.push(shown);
        count += 1;
    }
    kept.truncate(kept.trim_end().len());
    kept
}

/// Embeddings, overrides and isolates: they can make one text look like another.
fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Skips what belongs to an escape character, or to one of the C1 controls that
/// stand for an escape and a letter.
fn skip_sequence(introducer: char, chars: &mut Peekable<Chars<'_>>) {
    let kind = match introducer {
        '\u{1b}' => match chars.next_if(|c| ('\u{20}'..='\u{7e}').contains(c)) {
            Some(kind) => kind,
            None => return,
        },
        // U+009B is ESC [ and so on.
        c1 => char::from_u32(u32::from(c1) - 0x40).unwrap_or(c1),
    };
    match kind {
        '[' => skip_control_sequence(chars),
        ']' | 'P' | 'X' | '^' | '_' => skip_control_string(chars),
        // A character set and the like: more of these, then one character.
        ' '..='/' => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            let _final = chars.next_if(|c| ('0'..='~').contains(c));
        }
        _ => {}
    }
}

/// Parameters, then one letter. Anything else ends a broken sequence.
fn skip_control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
    let _final = chars.next_if(|c| ('@'..='~').contains(c));
}

/// Everything up to the terminator; all the rest if there is none, since that
/// is what a terminal would swallow.
fn skip_control_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next() {
        match c {
            // BEL, CAN, SUB, ST.
            '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}' => return,
            '\u{1b}' => {
                let _st = chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean(text, 128), expected, "from {text:?}");
    }

    #[test]
    fn i4_plain_text_stays_as_it_is() {
        for text in [
            "",
            "Île-de-France",
            "تهران",
            "São Paulo",
            "🇳🇱 Amsterdam",
            "a  b",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn i4_text_is_trimmed() {
        check("  \t Paris \r\n", "Paris");
        check("\u{feff}Paris", "Paris");
        check(" \n ", "");
    }

    #[test]
    fn i4_text_is_capped_by_characters_not_bytes() {
        assert_eq!(clean(&"ß".repeat(500), 128), "ß".repeat(128));
        assert_eq!(clean("abc", 3), "abc");
        assert_eq!(clean("abc", 0), "");
        assert_eq!(clean("ab cd", 3), "ab", "no space is left where it was cut");
    }

    #[test]
    fn i4_characters_that_are_removed_do_not_count() {
        assert_eq!(clean("\u{1b}[31m\0\u{202e}abc", 3), "abc");
    }

    #[test]
    fn i4_control_characters_are_removed_and_lines_joined() {
        check("a\0b\u{7}c\u{8}d\u{7f}e", "abcde");
        check("one\r\ntwo\tthree\u{2028}four", "one two three four");
        check("a\u{85}b", "ab");
    }

    #[test]
    fn i4_control_sequences_are_removed_whole() {
        check("\u{1b}[1;31mred\u{1b}[0m", "red");
        check("\u{1b}[?25lhidden\u{1b}[2J\u{1b}[10;10H", "hidden");
        check("\u{9b}31mred", "red");
        check("\u{1b}[38:2::1:2:3mx", "x");
    }

    #[test]
    fn i4_titles_links_and_device_strings_are_removed_whole() {
        check("\u{1b}]0;owned\u{7}Paris", "Paris");
        check("\u{1b}]8;;http://x/\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link");
        check("\u{9d}0;owned\u{9c}Paris", "Paris");
        check("\u{1b}P1$r0m\u{1b}\\Paris", "Paris");
        check(
            "\u{1b}_apc\u{1b}\\\u{1b}^pm\u{1b}\\\u{1b}Xsos\u{1b}\\Paris",
            "Paris",
        );
    }

    #[test]
    fn i4_short_escapes_are_removed_whole() {
        check("\u{1b}cParis", "Paris");
        check("\u{1b}(BParis", "Paris");
        check("\u{1b}7Paris\u{1b}8", "Paris");
    }

    #[test]
    fn i4_a_sequence_that_never_ends_takes_nothing_dangerous_along() {
        check("Paris\u{1b}", "Paris");
        check("Paris\u{1b}[", "Paris");
        check("Paris\u{1b}[31", "Paris");
        check("Paris\u{1b}]0;owned", "Paris");
        check("\u{1b}[3\u{1b}[31mred", "red");
        check("\u{1b}\u{1b}[31mred", "red");
        check("\u{1b}[3é", "é");
    }

    #[test]
    fn i4_marks_that_reorder_text_are_removed() {
        check("\u{202e}siraP\u{202c}", "siraP");
        check("a\u{2066}b\u{2069}c\u{202a}d", "abcd");
    }

    #[test]
    fn i4_nothing_that_a_terminal_obeys_is_left_whatever_comes_in() {
        // Every text of four characters out of those that matter.
        let parts = [
            '\u{1b}', '[', ']', '\u{7}', '\\', 'm', ' ', '3', '\u{9b}', '\u{9c}', '\u{202e}',
        ];
        let count = parts.len();
        for n in 0..count.pow(4) {
            let pick = |place: u32| parts[n / count.pow(place) % count];
            let text: String = (0..4).map(pick).collect();
            let cleaned = clean(&text, 128);
            let fine = !cleaned.chars().any(|c| c.is_control() || reorders(c));
            assert!(fine, "{text:?} became {cleaned:?}");
            assert_eq!(
                clean(&cleaned, 128),
                cleaned,
                "cleaning twice changes nothing"
            );
        }
    }
}
