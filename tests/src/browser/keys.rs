//! Strokes of a keyboard in WebDriver's words. It must not know who has the focus.

use serde_json::{Value, json};

/// A key that writes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Key {
    Down,
    End,
    Enter,
    Escape,
    Home,
    Left,
    PageDown,
    Right,
    Tab,
    Up,
}

impl Key {
    /// The character that stands for it.
    pub(super) fn code(self) -> char {
        match self {
            Self::Tab => '\u{e004}',
            Self::Enter => '\u{e007}',
            Self::Escape => '\u{e00c}',
            Self::PageDown => '\u{e00f}',
            Self::End => '\u{e010}',
            Self::Home => '\u{e011}',
            Self::Left => '\u{e012}',
            Self::Up => '\u{e013}',
            Self::Right => '\u{e014}',
            Self::Down => '\u{e015}',
        }
    }
}

/// Each key pressed and let go, one after another.
pub(super) fn strokes(keys: impl IntoIterator<Item = char>) -> Value {
    let strokes: Vec<_> = keys
        .into_iter()
        .flat_map(|key| ["keyDown", "keyUp"].map(|what| json!({ "type": what, "value": key })))
        .collect();
    json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": strokes }] })
}
