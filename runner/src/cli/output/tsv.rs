//! Reports as tab-separated lines, for `cut`, `awk` and `sort`.
//! It must not know the order of the lines.

use std::borrow::Cow;

use outwatch::{Kind, Report};

use super::text;

/// The columns. New ones are added at the end.
const COLUMNS: [&str; 13] = [
    "tag",
    "kind",
    "type",
    "state",
    "delay_ms",
    "ip",
    "country_code",
    "city",
    "asn",
    "org",
    "via",
    "error",
    "text",
];

/// The first line.
pub(crate) fn header() -> String {
    COLUMNS.join("\t") + "\n"
}

/// One report. What is unknown is empty.
pub(crate) fn line(report: &Report) -> String {
    let ip = report.ip.as_ref();
    let error = report.error.as_ref();
    let known = |text: Option<&String>| text.map_or(Cow::Borrowed(""), |t| text::field(t).into());
    let number = |n: Option<u32>| n.map_or(Cow::Borrowed(""), |n| n.to_string().into());
    let fields: [Cow<'_, str>; COLUMNS.len()] = [
        text::field(&report.tag).into(),
        kind(report.kind).into(),
        text::field(&report.type_name).into(),
        report.state.as_str().into(),
        number(report.delay_ms),
        known(ip.map(|ip| &ip.ip)),
        known(ip.and_then(|ip| ip.country_code.as_ref())),
        known(ip.and_then(|ip| ip.city.as_ref())),
        number(ip.and_then(|ip| ip.asn)),
        known(ip.and_then(|ip| ip.org.as_ref())),
        known(report.via.as_ref()),
        error.map_or("", |error| error.kind.as_str()).into(),
        known(
            error
                .map(|error| &error.text)
                .or(report.status_text.as_ref()),
        ),
    ];
    fields.join("\t") + "\n"
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Outbound | Kind::Untestable => "outbound",
        Kind::Endpoint => "endpoint",
        Kind::Group => "group",
    }
}
