//! The examples, as programs over a web server on loopback: each does what it says. It must
//! not know how they are written.

use std::path::PathBuf;
use std::process::Command;

use outwatch_tests::peers::Nginx;
use serde_json::Value;

/// Runs an example with options that test and look up at a server on loopback; gives what
/// it printed.
fn run(example: &str, server: &Nginx, more: &[&str]) -> String {
    let options = format!(
        r#"{{"urls":["{}"],"ipinfo_url":"{}","debounce_window":"10ms"}}"#,
        server.url("/generate_204"),
        server.url("/ip")
    );
    let mut command = Command::new(program(example));
    let output = command.arg(options).args(more).output();
    let output = output.unwrap_or_else(|error| {
        panic!("{example} is not built ({error}): `cargo build --workspace --examples` does it")
    });
    assert!(output.status.success(), "{command:?}: {output:#?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Where cargo has built an example: beside the folder of this test.
fn program(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let built = test.ancestors().nth(2).expect("the profile's folder");
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    built.join("examples").join(name)
}

/// The JSON after the last such word at the start of a line.
fn last(printed: &str, word: &str) -> Value {
    let mut lines = printed.lines().filter_map(|line| line.strip_prefix(word));
    let line = lines.next_back();
    let line = line.unwrap_or_else(|| panic!("no `{word}` in {printed}"));
    serde_json::from_str(line).expect("JSON")
}

#[test]
fn a_core_of_ones_own_is_tested_and_located_in_under_sixty_lines() {
    let server = Nginx::plain();
    let printed = run("embed", &server, &[]);
    assert_eq!(last(&printed, "tested: ")["state"], "ok");
    assert_eq!(last(&printed, "update: ")["ip"]["country_code"], "NL");
    let lines = include_str!("../examples/embed.rs").lines().count();
    assert!(lines < 60, "{lines} lines");
}

#[test]
fn a_core_that_fetches_by_itself_is_tested_by_its_own_client() {
    let server = Nginx::plain();
    let report = last(&run("fetching", &server, &[]), "tested: ");
    assert_eq!(report["state"], "ok", "{report}");
    assert!(report["delay_ms"].as_u64() >= Some(1), "{report}");
}

#[test]
fn outbounds_that_come_are_tested_and_those_that_go_are_told() {
    let server = Nginx::plain();
    let printed = run("changing", &server, &[]);
    for line in ["berlin is gone", "tokyo is ok", "oslo is ok"] {
        assert!(
            printed.lines().any(|it| it == line),
            "no `{line}` in {printed}"
        );
    }
}

#[test]
fn an_apps_own_state_follows_the_updates() {
    let server = Nginx::plain();
    let printed = run("state", &server, &[]);
    for tag in ["straight", "choice"] {
        let row = printed.lines().rev().find(|line| line.starts_with(tag));
        assert!(row.is_some_and(|row| row.contains(" ok ")), "{printed}");
    }
}

#[test]
fn a_cache_of_ones_own_brings_results_to_the_next_start() {
    let server = Nginx::plain();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.json");
    let path = [path.to_str().expect("a path of text")];
    let first = run("cache", &server, &path);
    assert_eq!(last(&first, "before: ")["state"], "untested");
    assert_eq!(last(&first, "after: ")["state"], "ok");
    let second = run("cache", &server, &path);
    assert_eq!(last(&second, "before: ")["state"], "cached");
    assert!(last(&second, "before: ")["delay_ms"].is_u64());
}
