//! The table of the rows that have room. It must not know what a row means.

use std::time::Duration;

use jiff::Timestamp;
use outwatch::Report;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::Scene;
use super::fit::{cut, width};
use crate::cli::output::cells::{self, Shown, Tone};
use crate::cli::output::text;
use crate::cli::screen::state::State;

/// Spaces between columns.
const GAP: usize = 2;

/// Columns for the sign before a row.
const SIGN: usize = 2;

struct Column {
    heading: &'static str,
    /// Numbers stand with their ends below each other.
    to_the_right: bool,
    /// The fewest columns of the terminal it makes sense with, and the most it takes.
    least: usize,
    most: usize,
    shown: fn(&Report, Timestamp) -> Shown,
}

const COLUMNS: [Column; 9] = [
    Column {
        heading: "TAG",
        to_the_right: false,
        least: 14,
        most: 36,
        shown: |report, _| cells::tag(report),
    },
    Column {
        heading: "DELAY",
        to_the_right: true,
        least: 9,
        most: 9,
        shown: |report, _| cells::delay(report),
    },
    Column {
        heading: "TYPE",
        to_the_right: false,
        least: 11,
        most: 11,
        shown: |report, _| cells::type_name(report),
    },
    Column {
        heading: "EXIT IP",
        to_the_right: false,
        least: 15,
        most: 39,
        shown: |report, _| cells::exit_ip(report),
    },
    Column {
        heading: "PLACE",
        to_the_right: false,
        least: 12,
        most: 24,
        shown: |report, _| cells::place(report),
    },
    Column {
        heading: "NETWORK",
        to_the_right: false,
        least: 12,
        most: 32,
        shown: |report, _| cells::network(report),
    },
    Column {
        heading: "AGE",
        to_the_right: true,
        least: 4,
        most: 4,
        shown: |report, now| Shown::new(age(report, now), Tone::Dim),
    },
    Column {
        heading: "WHY",
        to_the_right: false,
        least: 9,
        most: 17,
        shown: |report, _| {
            let reason = report.reason.map(outwatch::Reason::as_str);
            Shown::new(reason.unwrap_or_default(), Tone::Dim)
        },
    },
    Column {
        heading: "NOTE",
        to_the_right: false,
        least: 16,
        most: usize::MAX,
        shown: |report, _| cells::note(report),
    },
];

/// Where the cells of a column go.
struct Place {
    room: usize,
    to_the_right: bool,
}

/// Which columns are given up first when the terminal is too narrow for all.
const GIVEN_UP: [&str; 7] = ["TYPE", "NETWORK", "WHY", "PLACE", "AGE", "EXIT IP", "NOTE"];

/// Draws a heading, and as many rows as there is room for.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, state: &State, scene: &Scene<'_>) {
    let columns = fitting(usize::from(area.width));
    let room = usize::from(area.height.saturating_sub(1));
    let rows: Vec<(usize, &Report)> = (state.top..)
        .take(room)
        .map_while(|nth| Some((nth, state.rows.nth(nth)?)))
        .collect();
    let cells: Vec<Vec<Shown>> = rows
        .iter()
        .map(|(_, report)| {
            columns
                .iter()
                .map(|column| (column.shown)(report, scene.now))
                .collect()
        })
        .collect();
    let places = places(&columns, &cells, usize::from(area.width));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let heading = columns
        .iter()
        .map(|column| Shown::new(column.heading, Tone::Plain));
    line(buffer, area, 0, &places, heading.map(|shown| (shown, bold)));
    for (at, ((nth, report), cells)) in rows.iter().zip(cells).enumerate() {
        let at = at + 1;
        let painted = cells.into_iter().map(|shown| {
            let style = scene.paint.of(shown.tone);
            (shown, style)
        });
        line(buffer, area, at, &places, painted);
        let y = area.y + u16::try_from(at).unwrap_or(u16::MAX);
        buffer.set_stringn(area.x, y, sign(report, state), SIGN, Style::new());
        if *nth == state.nth() {
            let whole = Rect {
                y,
                height: 1,
                ..area
            };
            buffer.set_style(whole, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// Where the group that is looked at leads, and what is being tested.
fn sign(report: &Report, state: &State) -> &'static str {
    let group = state.groups.last();
    let selected = group.and_then(|group| group.selected.as_ref());
    match (selected == Some(&report.tag), report.testing) {
        (true, _) => "●",
        (false, true) => "…",
        (false, false) => "",
    }
}

fn line(
    buffer: &mut Buffer,
    area: Rect,
    at: usize,
    places: &[Place],
    cells: impl Iterator<Item = (Shown, Style)>,
) {
    let y = area.y + u16::try_from(at).unwrap_or(u16::MAX);
    let mut x = usize::from(area.x) + SIGN;
    for ((shown, style), place) in cells.zip(places) {
        let room = place.room;
        let turned = shown.text.ends_with(text::LEFT_TO_RIGHT_MARK);
        let shown = cut(&shown.text, room);
        let lead = if place.to_the_right {
            room - width(&shown)
        } else {
            0
        };
        let at = u16::try_from(x + lead).unwrap_or(u16::MAX);
        let (end, _) = buffer.set_stringn(at, y, &shown, room, style);
        // The mark takes no column, and so would not be drawn.
        if turned && let Some(cell) = buffer.cell_mut((end, y)) {
            cell.set_symbol("\u{200e} ");
        }
        x += room + GAP;
    }
}

/// The columns that there is room for.
fn fitting(room: usize) -> Vec<&'static Column> {
    let mut columns: Vec<&Column> = COLUMNS.iter().collect();
    for heading in GIVEN_UP {
        let needed: usize = columns.iter().map(|column| column.least + GAP).sum();
        if SIGN + needed <= room + GAP {
            break;
        }
        columns.retain(|column| column.heading != heading);
    }
    columns
}

/// How much each column gets of the room: the least, and more where its cells need more.
fn places(columns: &[&Column], cells: &[Vec<Shown>], room: usize) -> Vec<Place> {
    let least: usize = columns.iter().map(|column| column.least + GAP).sum();
    let mut left = (room + GAP).saturating_sub(SIGN + least);
    let each = columns.iter().enumerate().map(|(at, column)| {
        let shown = cells.iter().filter_map(|row| row.get(at));
        let widest = shown.map(|shown| width(&shown.text)).max().unwrap_or(0);
        let more = widest
            .min(column.most)
            .saturating_sub(column.least)
            .min(left);
        left -= more;
        Place {
            room: column.least + more,
            to_the_right: column.to_the_right,
        }
    });
    each.collect()
}

/// How old the result is now, and not when it was told.
fn age(report: &Report, now: Timestamp) -> String {
    let Some(tested_at) = report.tested_at else {
        return String::new();
    };
    // A clock that was set back makes nothing younger than new (C-6).
    let age = Duration::try_from(now.duration_since(tested_at)).unwrap_or_default();
    cells::rounded(age)
}
