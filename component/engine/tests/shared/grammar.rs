//! Reads log lines by the grammar and the events of docs/LOG.md (L-1). It must not know
//! when there is which line.

use std::collections::BTreeMap;

const DOCUMENT: &str = include_str!("../../../../docs/LOG.md");

/// The pairs of a line in their order.
pub(crate) type Pairs = Vec<(String, String)>;

/// For each event of the document the keys that may follow it, in their order.
pub(crate) type Events = BTreeMap<&'static str, Vec<Vec<&'static str>>>;

/// The pairs of a line; none if it is not of the grammar.
pub(crate) fn parse(line: &str) -> Option<Pairs> {
    let mut rest = line.strip_prefix("MONITORING")?;
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (key, value) = rest.strip_prefix(' ')?.split_once('=')?;
        let of_key = |char: char| char.is_ascii_lowercase() || char == '_';
        if key.is_empty() || !key.chars().all(of_key) {
            return None;
        }
        let text;
        if value.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
            text = values.next()?.ok()?;
            rest = &value[values.byte_offset()..];
        } else {
            let end = value.find(' ').unwrap_or(value.len());
            text = value[..end].to_string();
            let foreign = |char: char| matches!(char, '"' | '=') || char.is_control();
            if text.is_empty() || text.contains(foreign) {
                return None;
            }
            rest = &value[end..];
        }
        pairs.push((key.to_string(), text));
    }
    (pairs.first()?.0 == "event" && !line.contains(['\n', '\r'])).then_some(pairs)
}

/// The table of the document.
pub(crate) fn events() -> Events {
    let (_, section) = DOCUMENT.split_once("## Events").unwrap_or_default();
    let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
    section.lines().filter_map(event).collect()
}

fn event(row: &'static str) -> Option<(&'static str, Vec<Vec<&'static str>>)> {
    let cells = row.strip_prefix("| `")?.strip_suffix('|')?;
    let (event, rest) = cells.split_once("` |")?;
    let (_, keys) = rest.split_once('|')?;
    let ways = keys.split(" or ");
    let keys = |way: &'static str| way.trim().trim_matches('`').split_whitespace().collect();
    Some((event, ways.map(keys).collect()))
}

/// Whether a line's pairs are those that the document promises of its event.
pub(crate) fn is_as_promised(events: &Events, pairs: &Pairs) -> bool {
    let keys: Vec<&str> = pairs[1..].iter().map(|(key, _)| key.as_str()).collect();
    events
        .get(pairs[0].1.as_str())
        .is_some_and(|ways| ways.contains(&keys))
}
