//! From a place in a text to its line and column. It must not know what the text
//! says.

/// A line and a column, both counted from 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Ends at a line feed, a carriage return or both.
    pub line: usize,
    /// Characters, not bytes.
    pub column: usize,
}

/// So many bytes of one line need no mark in between.
const STRIDE: usize = 1024;

/// Marks along a text, close enough that the way from one to any place after it is
/// short even when the whole file is one line.
#[derive(Debug)]
pub(super) struct Lines {
    marks: Vec<Mark>,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    at: usize,
    position: Position,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let mut here = Position { line: 1, column: 1 };
        let mut marks = vec![Mark {
            at: 0,
            position: here,
        }];
        let mut last = 0;
        let mut before = None;
        for (at, c) in text.char_indices() {
            // The line feed of a CRLF belongs to the line that the CR has ended.
            let starts_line = match before {
                Some('\n') => true,
                Some('\r') => c != '\n',
                _ => false,
            };
            if starts_line {
                here = Position {
                    line: here.line + 1,
                    column: 1,
                };
            }
            if starts_line || at - last >= STRIDE {
                marks.push(Mark { at, position: here });
                last = at;
            }
            here.column += 1;
            before = Some(c);
        }
        Self { marks }
    }

    /// Where the byte `at` of `text` is.
    pub(super) fn position(&self, text: &str, at: usize) -> Position {
        let index = self.marks.partition_point(|mark| mark.at <= at);
        let mark = index.checked_sub(1).and_then(|index| self.marks.get(index));
        let Some(Mark {
            at: start,
            position,
        }) = mark
        else {
            return Position { line: 1, column: 1 };
        };
        let way = text.get(*start..at).unwrap_or_default();
        Position {
            line: position.line,
            column: position.column + way.chars().count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str, at: usize) -> (usize, usize) {
        let Position { line, column } = Lines::new(text).position(text, at);
        (line, column)
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(position("🇩🇪x", 8), (1, 3));
    }

    #[test]
    fn every_kind_of_line_end_counts_once() {
        assert_eq!(position("a\r\nb\rc\nd", 7), (4, 1));
    }

    #[test]
    fn the_line_feed_of_a_crlf_is_on_the_line_it_ends() {
        assert_eq!(position("a\r\nb", 2), (1, 3));
    }

    #[test]
    fn a_place_far_into_one_long_line_is_found() {
        let text = "é".repeat(100_000);
        assert_eq!(position(&text, 2 * 70_001), (1, 70_002));
    }

    #[test]
    fn the_end_of_a_text_that_ends_in_a_line_feed_is_on_that_line() {
        assert_eq!(position("{\n", 2), (1, 3));
    }
}
