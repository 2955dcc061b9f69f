//! Reports as JSON, exact to the byte, and harmless on a terminal.
//! It must not know a report's fields.

use std::io;

use outwatch::Report;
use serde::Serialize;
use serde_json::ser::Formatter;

/// One report on one line.
pub(crate) fn line(report: &Report) -> String {
    write(report) + "\n"
}

/// One array, a report a line.
pub(crate) fn array(reports: &[Report]) -> String {
    match reports {
        [] => "[]\n".to_owned(),
        reports => {
            let lines: Vec<String> = reports.iter().map(write).collect();
            format!("[\n{}\n]\n", lines.join(",\n"))
        }
    }
}

fn write(report: &Report) -> String {
    let mut json = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut json, Harmless);
    // A report holds only strings, numbers and flags, and a vector takes all.
    let _ = report.serialize(&mut serializer);
    String::from_utf8_lossy(&json).into_owned()
}

/// Writes compact JSON in which the control characters that JSON allows in strings
/// (U+007F to U+009F, which some terminals obey) are escaped too.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        for piece in fragment.split_inclusive(char::is_control) {
            let end = piece
                .char_indices()
                .next_back()
                .filter(|(_, c)| c.is_control());
            match end {
                Some((at, control)) => {
                    write!(writer, "{}\\u{:04x}", &piece[..at], u32::from(control))?;
                }
                None => writer.write_all(piece.as_bytes())?,
            }
        }
        Ok(())
    }
}
