//! Texts in so many columns of a terminal. It must not know what they say.

use ratatui::text::Span;

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// The text, cut with an ellipsis if it takes more columns.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut cut = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::{cut, width};

    #[test]
    fn a_text_takes_no_more_columns_than_there_are() {
        for text in [
            "",
            "Berlin",
            "🇩🇪 Frankfurt",
            "東京 1",
            "👨‍👩‍👧 x",
            "سرور\u{200e}",
        ] {
            for columns in 0..12 {
                let cut = cut(text, columns);
                assert!(width(&cut) <= columns, "{cut:?} in {columns}");
            }
            assert_eq!(cut(text, 40), text);
        }
        assert_eq!(cut("Frankfurt", 5), "Fran…");
        assert_eq!(cut("東京大阪", 6), "東京…");
    }
}
