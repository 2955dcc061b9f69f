//! The configs that people are shown are good ones.

use std::path::{Path, PathBuf};

use outwatch::config::{self, LoadOptions};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_example_loads_without_a_warning() {
    let mut names = Vec::new();
    for file in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            // No config.
            continue;
        }
        let loaded = config::load(
            &path,
            &LoadOptions {
                strict: true,
                dedupe_tags: false,
            },
        );
        assert_eq!(loaded.source.render(&loaded.problems), "");
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    names.sort();
    assert_eq!(
        names,
        [
            "chain-and-groups.json",
            "encrypted.json",
            "home-and-office.json",
            "minimal.json",
            "monitoring.json"
        ]
    );
}

#[test]
fn every_block_of_json_in_the_reference_loads_without_a_warning() {
    let reference = std::fs::read_to_string(root().join("docs/CONFIG.md")).unwrap();
    let blocks: Vec<&str> = reference
        .split("```jsonc\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(blocks.len() >= 2, "the reference shows configs");
    for block in blocks {
        let loaded = config::read(
            "CONFIG.md",
            block.as_bytes(),
            &LoadOptions {
                strict: true,
                dedupe_tags: false,
            },
        );
        assert_eq!(loaded.source.render(&loaded.problems), "", "{block}");
    }
}

#[test]
fn f1_the_example_of_monitoring_and_the_reference_name_every_option() {
    let options = [
        "interval",
        "urls",
        "ipinfo_url",
        "verify_ipv6",
        "ipv6_declared",
        "workers",
        "url_test_timeout",
        "on_demand_timeouts",
        "idle_timeout",
        "debounce_window",
        "expected_status",
        "unified_delay",
        "ip_lookup",
        "immediate_limit",
    ];
    let example = config::load(
        &root().join("examples/monitoring.json"),
        &LoadOptions::default(),
    );
    let example: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&example.config.unwrap().monitoring).unwrap();
    let reference = std::fs::read_to_string(root().join("docs/CONFIG.md")).unwrap();
    for option in options {
        assert!(example.contains_key(option), "the example shows `{option}`");
        assert!(
            reference.contains(&format!("| `{option}` |")),
            "the reference has a row for `{option}`"
        );
    }
    assert_eq!(
        example.len(),
        options.len(),
        "the example shows nothing else"
    );
}
