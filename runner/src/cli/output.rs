//! Reports as text: for people, for programs, in the order people want.
//! It must not know where reports come from or where the text goes.

pub(crate) mod cells;
pub(crate) mod json;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod tsv;

use clap::ValueEnum;
use outwatch::{Kind, Report, State};

/// How a list of reports is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// Tab-separated, one line per outbound, after a header
    Tsv,
    /// One JSON array
    Json,
    /// One JSON object per line, each as soon as it is known
    Jsonl,
}

impl Format {
    /// What suits the reader: a table for a person, TSV for a pipe.
    pub(crate) fn fitting(watched: bool) -> Self {
        if watched { Self::Table } else { Self::Tsv }
    }

    /// A whole list of reports, in the order given.
    pub(crate) fn list(self, reports: &[Report], width: Option<u16>) -> String {
        match self {
            Self::Table => table::render(reports, width),
            Self::Tsv => std::iter::once(tsv::header())
                .chain(reports.iter().map(tsv::line))
                .collect(),
            Self::Json => json::array(reports),
            Self::Jsonl => reports.iter().map(json::line).collect(),
        }
    }
}

/// Fastest first, then what has no result, then the failed; a group stands behind
/// the member that it shows. Ties keep the config's order.
pub(crate) fn sort(reports: &mut [Report]) {
    reports.sort_by_key(rank);
}

/// What stands first has the smallest.
pub(crate) fn rank(report: &Report) -> (u8, u32, bool) {
    let rank = match report.state {
        State::Ok | State::Cached => 0,
        State::Failed => 2,
        _ => 1,
    };
    (
        rank,
        report.delay_ms.unwrap_or(u32::MAX),
        report.kind == Kind::Group,
    )
}
