//! Reports as a table for people, as wide as their terminal.
//! It must not know the order of the rows, nor where they come from.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Row, Table, Width,
    presets,
};
use outwatch::Report;

use super::cells::{self, Shown, Tone};

/// One column: its heading, the fewest characters it makes sense with, and whether
/// it can be left out on a narrow terminal.
struct Column {
    heading: &'static str,
    least: u16,
    shown: fn(&Report) -> Shown,
}

const COLUMNS: [Column; 7] = [
    Column {
        heading: "TAG",
        least: 12,
        shown: cells::tag,
    },
    Column {
        heading: "DELAY",
        least: 9,
        shown: cells::delay,
    },
    Column {
        heading: "TYPE",
        least: 8,
        shown: cells::type_name,
    },
    Column {
        heading: "EXIT IP",
        least: 15,
        shown: cells::exit_ip,
    },
    Column {
        heading: "PLACE",
        least: 12,
        shown: cells::place,
    },
    Column {
        heading: "NETWORK",
        least: 12,
        shown: cells::network,
    },
    Column {
        heading: "NOTE",
        least: 16,
        shown: cells::note,
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
            .map(|column| cell((column.shown)(report)))
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
                .any(|report| !(column.shown)(report).text.is_empty())
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

/// A cell of the table. Colour only underlines what the text says.
fn cell(shown: Shown) -> Cell {
    let cell = Cell::new_owned(shown.text);
    match shown.tone {
        Tone::Plain => cell,
        Tone::Group => cell.add_attribute(Attribute::Italic),
        Tone::Dim => cell.fg(Color::DarkGrey),
        Tone::Good => cell.fg(Color::Green),
        Tone::Fair => cell.fg(Color::Yellow),
        Tone::Slow => cell.fg(Color::DarkYellow),
        Tone::Bad => cell.fg(Color::Red),
    }
}
