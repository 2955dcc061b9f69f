//! Reads log lines by the grammar that the journal documents (L-1). It must not know
//! which events there are.

/// The pairs of a line; none if it is not of the grammar.
pub(crate) fn parse(line: &str) -> Option<Vec<(String, String)>> {
    let mut rest = line.strip_prefix("MONITORING")?;
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (key, value) = rest.strip_prefix(' ')?.split_once('=')?;
        if !key
            .chars()
            .all(|char| char.is_ascii_lowercase() || char == '_')
        {
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
            if text.contains(['"', '=']) {
                return None;
            }
            rest = &value[end..];
        }
        pairs.push((key.to_string(), text));
    }
    Some(pairs)
}
