//! L: log lines.

use outwatch_engine::Input;

use crate::world::{World, not_ready, ok, refused};

const MINUTE: u64 = 60_000;

#[test]
fn l1_every_test_its_result_and_each_cycle_is_one_line_that_a_program_can_read() {
    let tag = "x\" ok=1 \n🇩🇪";
    let mut world = World::new()
        .outbound(tag, [refused(10), ok(100)])
        .outbound("b", [not_ready("no\nway")])
        .start();
    world.run_to(MINUTE);
    world.ask(tag);
    world.run_to(20 * MINUTE);
    world.input([Input::Activity]);
    assert!(world.log.len() > 20);
    for (_, line) in &world.log {
        let pairs = parse(line).unwrap_or_else(|| panic!("not of the grammar: {line}"));
        assert_eq!(pairs[0].0, "event");
        if pairs[0].1 == "test" {
            assert!(pairs.iter().any(|(key, _)| key == "reason"));
            assert!(
                pairs
                    .iter()
                    .any(|(key, value)| key == "tag" && (value == tag || value == "b"))
            );
        }
    }
    for event in [
        "cycle_start",
        "test",
        "result",
        "cycle_end",
        "idle",
        "wake",
        "not_ready",
    ] {
        assert!(
            !world.lines(&[&format!("event={event}")]).is_empty(),
            "{event}"
        );
    }
}

/// Reads a line by the grammar that the journal documents.
fn parse(line: &str) -> Option<Vec<(String, String)>> {
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
