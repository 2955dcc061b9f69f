//! Which keys there are. It must not know what they do.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::cli::screen::state::{Pane, State};

const KEYS: [(&str, &str); 13] = [
    ("↑ ↓  j k", "a row up, down"),
    ("PgUp PgDn", "a screen up, down"),
    ("Home End", "the first, the last"),
    ("Enter", "into a group; of an outbound its details"),
    ("Esc", "out of it again"),
    ("t", "test this outbound, or all of this group"),
    ("T", "test all that are shown"),
    ("Space", "in a selector: lead to this member"),
    ("s  r", "sort by the next column; reverse"),
    ("/", "show only what holds a text"),
    ("d  l", "details; log"),
    ("?", "these keys"),
    ("q  Ctrl-C", "end"),
];

/// The most needed ones, for where the person is.
pub(super) fn shortest(state: &State) -> &'static str {
    match (state.groups.last(), state.pane) {
        (Some(group), _) if group.selectable => {
            "Space choose  t test  T test all  Enter details  Esc back  / filter  s sort  ? keys  q end"
        }
        (None, Pane::Log | Pane::Nothing) => {
            "Enter open  t test  T test all  / filter  s sort  r reverse  l log  ? keys  q end"
        }
        _ => "t test  T test all  Esc back  / filter  s sort  r reverse  l log  ? keys  q end",
    }
}

/// All of them, over what is drawn.
pub(super) fn draw(frame: &mut Frame<'_>) {
    let lines: Vec<String> = KEYS
        .iter()
        .map(|(key, what)| format!(" {key:<10} {what} "))
        .collect();
    let width = lines.iter().map(|line| line.chars().count()).max();
    let area = centred(frame.area(), width.unwrap_or(0) + 2, lines.len() + 2);
    let text = Paragraph::new(lines.join("\n")).block(Block::bordered().title(" keys "));
    frame.render_widget(Clear, area);
    frame.render_widget(text, area);
}

fn centred(area: Rect, width: usize, height: usize) -> Rect {
    let length = |size: usize| Constraint::Length(size.try_into().unwrap_or(u16::MAX));
    area.centered(length(width), length(height))
}
