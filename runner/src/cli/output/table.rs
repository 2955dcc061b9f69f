//! Reports as a table for people, as wide as their terminal.
//! It must not know the order of the rows, nor where they come from.

use std::time::Duration;

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Row, Table, Width,
    presets,
};
use outwatch::{IpInfo, Kind, Report, State};

use super::text;

/// One column: its heading, the fewest characters it makes sense with, and whether
/// it can be left out on a narrow terminal.
struct Column {
    heading: &'static str,
    least: u16,
    cell: fn(&Report) -> Cell,
}

const COLUMNS: [Column; 7] = [
    Column {
        heading: "TAG",
        least: 12,
        cell: tag,
    },
    Column {
        heading: "DELAY",
        least: 9,
        cell: delay,
    },
    Column {
        heading: "TYPE",
        least: 8,
        cell: type_name,
    },
    Column {
        heading: "EXIT IP",
        least: 15,
        cell: exit_ip,
    },
    Column {
        heading: "PLACE",
        least: 12,
        cell: place,
    },
    Column {
        heading: "NETWORK",
        least: 12,
        cell: network,
    },
    Column {
        heading: "NOTE",
        least: 16,
        cell: note,
    },
];

/// Which columns are given up first when the terminal is too narrow for all.
const GIVEN_UP: [&str; 5] = ["TYPE", "NETWORK", "PLACE", "EXIT IP", "NOTE"];

/// Spaces between columns.
const GAP: u16 = 2;

/// Where a cell's text may be broken: nowhere, since no shown text holds this, so
/// that it is cut where the column ends and not after the last word that fits.
const UNBROKEN: char = '\u{1f}';

/// The table, styled. With a width, no line is longer, and what does not fit is cut
/// with an ellipsis.
pub(crate) fn render(reports: &[Report], width: Option<u16>) -> String {
    let columns = fitting(reports, width);
    let mut table = Table::new();
    table.style_text_only();
    table
        .load_style(presets::NOTHING)
        .set_truncation_indicator("…")
        .set_delimiter(UNBROKEN)
        .enforce_styling()
        .set_header(
            columns
                .iter()
                .map(|c| Cell::new(c.heading).add_attribute(Attribute::Bold)),
        );
    for report in reports {
        let mut row: Row = columns
            .iter()
            .map(|column| (column.cell)(report))
            .collect::<Vec<_>>()
            .into();
        row.max_height(1);
        table.add_row(row);
    }
    match width {
        Some(width) => table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    for (index, column) in columns.iter().enumerate() {
        if let Some(shown) = table.column_mut(index) {
            let last = index + 1 == columns.len();
            shown.set_padding((0, if last { 0 } else { GAP }));
            if column.heading == "DELAY" {
                shown.set_cell_alignment(CellAlignment::Right);
                shown.set_constraint(ColumnConstraint::ContentWidth);
            } else if width.is_some() {
                shown.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(GAP)));
            }
        }
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n") + "\n"
}

/// The columns that say something and for which there is room.
fn fitting(reports: &[Report], width: Option<u16>) -> Vec<&'static Column> {
    let says_something = |column: &&Column| {
        matches!(column.heading, "TAG" | "DELAY")
            || reports
                .iter()
                .any(|report| !(column.cell)(report).content().is_empty())
    };
    let mut columns: Vec<&Column> = COLUMNS.iter().filter(says_something).collect();
    let Some(width) = width else { return columns };
    for heading in GIVEN_UP {
        let needed: u16 = columns.iter().map(|column| column.least + GAP).sum();
        if needed <= width + GAP {
            break;
        }
        columns.retain(|column| column.heading != heading);
    }
    columns
}

fn tag(report: &Report) -> Cell {
    let cell = Cell::new_owned(text::line(&report.tag));
    if report.kind == Kind::Group {
        cell.add_attribute(Attribute::Italic)
    } else {
        cell
    }
}

fn type_name(report: &Report) -> Cell {
    Cell::new_owned(text::line(&report.type_name)).fg(Color::DarkGrey)
}

/// The delay, or the word for there being none: colour only underlines it.
fn delay(report: &Report) -> Cell {
    match (report.state, report.delay_ms) {
        (State::Ok | State::Cached | State::NotReady, Some(ms)) => {
            let colour = match (report.state, ms) {
                (State::Cached | State::NotReady, _) => Color::DarkGrey,
                (_, ..200) => Color::Green,
                (_, 200..600) => Color::Yellow,
                (_, 600..) => Color::DarkYellow,
            };
            Cell::new_owned(format!("{ms} ms")).fg(colour)
        }
        (State::Failed, _) => Cell::new("failed").fg(Color::Red),
        (State::Untested, _) if report.testing => Cell::new("testing").fg(Color::DarkGrey),
        (State::NotReady, None) => Cell::new("not ready").fg(Color::Yellow),
        _ => Cell::new("untested").fg(Color::DarkGrey),
    }
}

fn exit_ip(report: &Report) -> Cell {
    of_ip(report, |ip| text::line(&ip.ip))
}

fn place(report: &Report) -> Cell {
    of_ip(report, |ip| {
        let place = ip.city.as_ref().or(ip.region.as_ref());
        joined([ip.country_code.as_ref(), place].into_iter().flatten())
    })
}

fn network(report: &Report) -> Cell {
    of_ip(report, |ip| {
        let number = ip.asn.map(|asn| format!("AS{asn}"));
        joined([number.as_ref(), ip.org.as_ref()].into_iter().flatten())
    })
}

fn of_ip(report: &Report, shown: impl Fn(&IpInfo) -> String) -> Cell {
    let cell = Cell::new_owned(report.ip.as_ref().map(shown).unwrap_or_default());
    if report.ip_from_cache {
        cell.fg(Color::DarkGrey)
    } else {
        cell
    }
}

fn joined<'a>(words: impl Iterator<Item = &'a String>) -> String {
    text::line(&words.map(String::as_str).collect::<Vec<_>>().join(" "))
}

/// What else there is to say, the most telling first.
fn note(report: &Report) -> Cell {
    let mut notes = Vec::new();
    if let Some(via) = &report.via {
        notes.push(format!("via {}", text::line(via)));
    }
    if report.miss {
        notes.push("no answer yet".to_owned());
    }
    if let Some(error) = &report.error {
        notes.push(format!("{}: {}", error.kind, text::line(&error.text)));
    }
    if let Some(status) = &report.status_text {
        notes.push(text::line(status));
    }
    match (report.from_cache, report.age_ms) {
        (true, Some(age)) => notes.push(format!("saved {} ago", rounded(age))),
        (true, None) => notes.push("saved".to_owned()),
        (false, _) if report.ip_from_cache => notes.push("IP as saved".to_owned()),
        (false, _) => {}
    }
    Cell::new_owned(notes.join("; "))
}

/// An age in its largest unit, such as `5m`.
fn rounded(age_ms: u64) -> String {
    let seconds = Duration::from_millis(age_ms).as_secs();
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}
