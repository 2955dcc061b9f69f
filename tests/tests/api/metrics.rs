//! Metrics, read by the parser of Prometheus' own client.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use outwatch::group::{GroupPlan, Policy};
use outwatch_tests::peers::api_checks;
use outwatch_tests::stub::{Stub, answers, refuses};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::world::{World, describe};

/// Reads metrics from standard input, and writes each value with its labels as JSON.
const PARSER: &str = "
import json, sys
from prometheus_client.parser import text_string_to_metric_families
text = sys.stdin.buffer.read().decode()
print(json.dumps([[s.name, s.labels, s.value, f.type] for f in text_string_to_metric_families(text) for s in f.samples]))
";

/// One value.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
    kind: String,
}

impl Sample {
    fn read(value: &Value) -> Self {
        let labels = value[1].as_object().expect("labels").iter();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Self {
            name: text(&value[0]),
            labels: labels
                .map(|(name, label)| (name.clone(), text(label)))
                .collect(),
            value: value[2].as_f64().expect("a number"),
            kind: text(&value[3]),
        }
    }

    fn has(&self, name: &str, label: &str) -> bool {
        self.labels.get(name).is_some_and(|text| text == label)
    }
}

async fn parse(text: &str) -> Vec<Sample> {
    let mut parser = Command::new("python3")
        .args(["-c", PARSER])
        .env("PYTHONPATH", api_checks())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let mut pipe = parser.stdin.take().expect("a pipe");
    pipe.write_all(text.as_bytes())
        .await
        .expect("a parser that reads");
    drop(pipe);
    let output = parser.wait_with_output().await.expect("a parser");
    assert!(output.status.success(), "it parses:\n{text}");
    let samples: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    samples
        .as_array()
        .expect("a list")
        .iter()
        .map(Sample::read)
        .collect()
}

const TAGS: [&str; 5] = [
    "🇩🇪 Berlin",
    "🇫🇷 Berlin",
    "a\"} 1\n# b\\",
    "a\\\"} 1\\n# b\\\\",
    "down",
];

async fn scraped() -> (World, Vec<Sample>) {
    let stub = Stub::with(TAGS.map(|tag| (tag, answers(20))));
    stub.set("down", refuses(5));
    stub.add_group("auto", &TAGS, None);
    let plan = GroupPlan::new(
        "auto",
        Policy::LowestDelay {
            tolerance_ms: 60_000,
        },
    );
    let world = World::choosing(&stub, [plan]).await;
    world.client.post("/api/v1/test").await.fine();
    let answer = world.client.get("/metrics").await;
    assert_eq!(answer.status, 200);
    let of_type = answer.headers["content-type"].to_str().expect("a text");
    assert!(
        of_type.starts_with("text/plain; version=0.0.4"),
        "{of_type}"
    );
    let samples = parse(&answer.text()).await;
    (world, samples)
}

#[tokio::test]
async fn each_outbound_has_its_values_whatever_its_tag() {
    let (world, samples) = scraped().await;
    let of = |name: &str, tag: &str| {
        let mut found = samples
            .iter()
            .filter(|s| s.name == name && s.has("outbound", tag));
        let value = found.next().map(|sample| sample.value);
        assert!(found.next().is_none(), "one value for {tag:?}");
        value
    };
    for tag in &TAGS[..4] {
        assert_eq!(of("outwatch_probe_success", tag), Some(1.0), "{tag:?}");
        let path = outwatch_tests::http::in_path(tag);
        let report = world
            .client
            .get(&format!("/api/v1/outbounds/{path}"))
            .await
            .fine();
        let seconds = report["delay_ms"].as_f64().map(|ms| ms / 1000.0);
        assert_eq!(
            of("outwatch_probe_duration_seconds", tag),
            seconds,
            "base units"
        );
    }
    assert_eq!(of("outwatch_probe_success", "down"), Some(0.0));
    assert_eq!(of("outwatch_probe_duration_seconds", "down"), None);
    let error = samples
        .iter()
        .find(|s| s.name == "outwatch_probe_error_info");
    assert!(error.is_some_and(|s| s.has("outbound", "down") && s.has("error", "dial_refused")));
    assert_eq!(of("outwatch_probe_recent_tests", "down"), Some(1.0));
    assert_eq!(of("outwatch_probe_recent_failures", "down"), Some(1.0));
}

#[tokio::test]
async fn groups_the_engine_and_this_build_are_there_too() {
    let (world, samples) = scraped().await;
    let find = |name: &str| {
        let found = samples.iter().find(|sample| sample.name == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    let selected = find("outwatch_group_selected");
    assert!(selected.has("group", "auto") && selected.has("network", "tcp"));
    assert!(
        TAGS[..4].iter().any(|tag| selected.has("member", tag)),
        "{selected:?}"
    );
    assert_eq!(find("outwatch_group_members").value, 5.0);
    assert!(find("outwatch_engine_memory_bytes").value > 0.0);
    let engine = find("outwatch_engine_info");
    assert!(engine.has("sha256", world.monitor.component().sha256()));
    assert!(find("outwatch_build_info").has("version", env!("CARGO_PKG_VERSION")));
    assert_eq!(find("outwatch_traffic_bytes_total").kind, "counter");
    let states = samples.iter().filter(|s| s.name == "outwatch_outbounds");
    assert_eq!(states.map(|sample| sample.value).sum::<f64>(), 5.0);
}

#[tokio::test]
async fn exits_are_told_with_their_place() {
    let stub = Stub::with([("a", answers(5))]);
    stub.set_ip("a", "93.184.216.34", "DE");
    let builder = describe(&stub).options(r#"{"debounce_window": "10ms"}"#);
    let world = World::start(builder, |api| api).await;
    let mut events = world.client.listen("/api/v1/events").await;
    world.client.post("/api/v1/outbounds/a/test").await.fine();
    while events.next().await.expect("an event").json()["reports"][0]["ip"]["ip"].is_null() {}
    let samples = parse(&world.client.get("/metrics").await.text()).await;
    let exit = samples
        .iter()
        .find(|s| s.name == "outwatch_exit_info")
        .expect("an exit");
    for (name, label) in [
        ("ip", "93.184.216.34"),
        ("country", "DE"),
        ("asn", "64500"),
        ("cached", "false"),
    ] {
        assert!(exit.has(name, label), "{exit:?}");
    }
}

/// Every name that begins like a metric of ours.
fn names_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("outwatch_")).collect()
}

#[tokio::test]
async fn the_dashboard_and_the_alerts_of_the_examples_name_what_is_exported() {
    let (world, _) = scraped().await;
    let text = world.client.get("/metrics").await.text();
    let headings = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let exported: BTreeSet<&str> = headings.filter_map(|line| line.split(' ').next()).collect();
    let dashboard = include_str!("../../../examples/grafana/outwatch.json");
    let alerts = include_str!("../../../examples/prometheus/alerts.yml");
    serde_json::from_str::<Value>(dashboard).expect("a dashboard is JSON");
    for (file, text) in [("dashboard", dashboard), ("alerts", alerts)] {
        let named = names_in(text);
        assert!(named.len() > 5, "the {file} names some: {named:?}");
        let unknown: Vec<_> = named.difference(&exported).collect();
        assert!(unknown.is_empty(), "the {file} names {unknown:?}");
    }
}
