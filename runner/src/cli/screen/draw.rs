//! Draws what a person looks at: the head, the table, a pane, and which keys there are. It
//! must not change anything, nor know how keys and updates come.

mod details;
mod fit;
mod help;
mod table;

use std::borrow::Cow;

use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::state::{Focus, Pane, State};
use crate::cli::output::cells::{Shown, Tone};
use crate::cli::output::text;

/// Fewer lines than this hold the table alone.
const ROOM_FOR_PANE: u16 = 16;

/// Lines of the pane for details, its edge included.
const DETAILS: u16 = 11;

/// What is drawn, besides the state.
pub(super) struct Scene<'a> {
    /// The name of the config.
    pub(super) name: &'a str,
    /// What the log says, the newest last; at least as many lines as there is room for.
    pub(super) log: &'a [String],
    /// For ages.
    pub(super) now: Timestamp,
    /// Whether colours may be used.
    pub(super) paint: Paint,
}

/// How tones look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Coloured,
    /// `NO_COLOR`: bold, italic and dim letters alone.
    Plain,
}

impl Paint {
    fn of(self, tone: Tone) -> Style {
        let style = Style::new();
        let coloured = match tone {
            Tone::Plain => style,
            Tone::Group => return style.add_modifier(Modifier::ITALIC),
            Tone::Dim => return style.add_modifier(Modifier::DIM),
            Tone::Good => style.fg(Color::Green),
            Tone::Fair => style.fg(Color::Yellow),
            Tone::Slow => style.fg(Color::LightRed),
            Tone::Bad => style.fg(Color::Red),
        };
        match self {
            Self::Coloured => coloured,
            Self::Plain => style,
        }
    }
}

/// Draws all of it. The state learns how many rows have room.
pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State, scene: &Scene<'_>) {
    let pane = match state.pane {
        _ if frame.area().height < ROOM_FOR_PANE => 0,
        Pane::Nothing => 0,
        Pane::Details => DETAILS,
        Pane::Log => frame.area().height / 3,
    };
    let [head, rows, below, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(2),
        Constraint::Length(pane),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    state.fit(usize::from(rows.height.saturating_sub(1)));
    frame.render_widget(Paragraph::new(heading(state, scene)), head);
    table::draw(frame.buffer_mut(), rows, state, scene);
    match state.pane {
        Pane::Log => log(frame, below, scene),
        Pane::Details => details::draw(frame, below, state, scene),
        Pane::Nothing => {}
    }
    footer(frame, foot, state, scene);
    if state.focus == Focus::Help {
        help::draw(frame);
    }
}

/// What there is, and what of it is shown how.
fn heading(state: &State, scene: &Scene<'_>) -> Line<'static> {
    let counts = state.rows.counts();
    let mut line = vec![
        Span::styled(
            text::line(scene.name),
            Style::new().add_modifier(Modifier::BOLD),
        ),
        Span::raw(match counts.all {
            1 => "  1 outbound: ".to_owned(),
            all => format!("  {all} outbounds: "),
        }),
        span(scene, Shown::new(format!("{} ok", counts.ok), Tone::Good)),
        Span::raw(", "),
        span(
            scene,
            Shown::new(format!("{} failed", counts.failed), Tone::Bad),
        ),
    ];
    if counts.testing > 0 {
        line.push(Span::raw(format!(", {} testing", counts.testing)));
    }
    let direction = if state.wanted.reversed {
        ", reversed"
    } else {
        ""
    };
    line.push(Span::raw(format!(
        "  by {}{direction}",
        state.wanted.sort.name()
    )));
    for group in &state.groups {
        let tag = text::line(&group.tag);
        line.push(span(scene, Shown::new(format!("  in {tag}"), Tone::Group)));
    }
    if !state.filter.is_empty() && state.focus != Focus::Filter {
        line.push(Span::raw(format!("  only {:?}", text::line(&state.filter))));
    }
    line.into()
}

fn log(frame: &mut Frame<'_>, area: Rect, scene: &Scene<'_>) {
    let room = usize::from(area.height.saturating_sub(1));
    let from = scene.log.len().saturating_sub(room);
    let lines = scene.log.get(from..).unwrap_or_default();
    let lines: Vec<Line<'_>> = lines.iter().map(|line| Line::raw(brief(line))).collect();
    frame.render_widget(Paragraph::new(lines).block(edge(" log ")), area);
}

/// With the time of day where a line begins with the date too.
fn brief(line: &str) -> Cow<'_, str> {
    let dated = line.split_once(' ').and_then(|(at, rest)| {
        let at: Timestamp = at.parse().ok()?;
        Some(format!("{} {}", at.strftime("%H:%M:%S"), rest.trim_start()))
    });
    dated.map_or(Cow::Borrowed(line), Cow::Owned)
}

/// What a person types, what is told, or which keys there are.
fn footer(frame: &mut Frame<'_>, area: Rect, state: &State, scene: &Scene<'_>) {
    let line = if state.focus == Focus::Filter {
        Line::from(format!(
            "/{}▏  Enter keeps it, Esc gives it up",
            text::line(&state.filter)
        ))
    } else if let Some(notice) = &state.notice {
        Line::styled(notice.clone(), Style::new().add_modifier(Modifier::BOLD))
    } else {
        Line::styled(help::shortest(state), scene.paint.of(Tone::Dim))
    };
    frame.render_widget(Paragraph::new(line), area);
}

fn span(scene: &Scene<'_>, shown: Shown) -> Span<'static> {
    Span::styled(shown.text, scene.paint.of(shown.tone))
}

/// The edge above a pane, with its name.
fn edge(name: &str) -> Block<'_> {
    Block::new().borders(Borders::TOP).title(name)
}

#[cfg(test)]
mod tests;
