//! `outwatch test` against the demo's world.

use outwatch_demo_world::{Behaviour, Proxy, World};
use serde_json::Value;

use crate::scene::{Running, Shot, Stage, assert_shot};

/// The columns of a TSV line.
fn columns(line: &str) -> Vec<&str> {
    line.split('\t').collect()
}

#[test]
fn in_a_pipe_it_is_tsv_fastest_first_and_the_failed_last() {
    let shot = Stage::demo().test([]);
    assert_eq!(shot.code, Some(0), "{shot}");
    let mut lines = shot.stdout.lines().map(columns);
    let header = lines.next().expect("a header");
    assert_eq!(&header[..5], ["tag", "kind", "type", "state", "delay_ms"]);
    let rows: Vec<_> = lines.collect();
    assert!(rows.iter().all(|row| row.len() == header.len()), "{shot}");

    let working = rows.iter().take_while(|row| row[3] == "ok").count();
    let delays: Vec<u32> = rows[..working]
        .iter()
        .map(|row| row[4].parse().expect("ms"))
        .collect();
    assert!(delays.is_sorted(), "{shot}");
    let failed: Vec<_> = rows[working..]
        .iter()
        .map(|row| (row[0], row[3], row[11]))
        .collect();
    assert_eq!(
        failed,
        [
            ("dead", "failed", "dial_refused"),
            ("hanging", "failed", "timeout"),
            ("wrong password", "failed", "proxy_auth"),
            ("intercepted", "failed", "tls_cert"),
        ],
        "{shot}"
    );
}

#[test]
fn every_one_that_works_shows_where_it_comes_out() {
    let shot = Stage::demo().test(["--format", "json"]);
    let reports: Vec<Value> = serde_json::from_str(&shot.stdout).expect("one JSON array");
    let exit = |tag: &str| {
        let report = reports
            .iter()
            .find(|report| report["tag"] == tag)
            .expect(tag);
        let ip = &report["ip"];
        format!(
            "{} {} AS{} {}",
            ip["ip"], ip["country_code"], ip["asn"], ip["org"]
        )
    };
    assert_eq!(exit("fast"), r#""192.0.2.10" "DE" AS64496 "Example Net""#);
    assert_eq!(
        exit("behind fast"),
        r#""2001:db8::40" "CA" AS64499 "Example Cable""#
    );
    assert_eq!(exit("choice"), exit("slow"), "a group shows its member's");
    let choice = reports
        .iter()
        .find(|report| report["tag"] == "choice")
        .expect("the group");
    assert_eq!(choice["via"], "slow");
}

#[test]
fn a_table_is_for_people() {
    let shot = Stage::demo().test(["--format", "table"]);
    assert_shot!(shot.by_tag(), @"
    exit code: 0
    ----- stdout
    TAG  DELAY  TYPE  EXIT IP  PLACE  NETWORK  NOTE
    behind fast  [n] ms  socks  2001:db8::40  CA Toronto  AS64499 Example Cable
    best  [n] ms  urltest  192.0.2.10  DE Berlin  AS64496 Example Net  via fast
    choice  [n] ms  selector  198.51.100.20  JP Tokyo  AS64497 Example Fiber  via slow
    dead  failed  socks  dial_refused: 127.0.0.1:[port] refused the connection
    fast  [n] ms  socks  192.0.2.10  DE Berlin  AS64496 Example Net
    flaky  [n] ms  socks  198.51.100.50  TR Istanbul  AS64500 Example Mobile
    hanging  failed  socks  timeout: [why]
    intercepted  failed  http  tls_cert: the certificate of test.outwatch.example comes from an unknown issuer (UnknownIssuer)
    office  [n] ms  http  203.0.113.30  FI Helsinki  AS64498 Example Hosting
    slow  [n] ms  socks  198.51.100.20  JP Tokyo  AS64497 Example Fiber
    wrong password  failed  http  proxy_auth: the HTTP proxy 127.0.0.1:[port] of `wrong password` refused the username and password (407 Proxy Authentication Required)
    ");
}

#[test]
fn only_the_tags_asked_for_are_tested_and_a_group_brings_its_members() {
    let stage = Stage::demo();
    let tags = |shot: &Shot| -> Vec<String> {
        let lines = shot.stdout.lines().skip(1);
        lines.map(|line| columns(line)[0].to_owned()).collect()
    };
    let two = stage.test(["fast", "dead", "--no-ip"]);
    assert_eq!(tags(&two), ["fast", "dead"]);
    let mut group = tags(&stage.test(["best", "--no-ip"]));
    group.sort();
    assert_eq!(
        group,
        [
            "behind fast",
            "best",
            "dead",
            "fast",
            "flaky",
            "office",
            "slow"
        ]
    );
}

#[test]
fn no_ip_asks_no_ip_service() {
    let shot = Stage::demo().test(["fast", "--no-ip", "--format", "json"]);
    let reports: Vec<Value> = serde_json::from_str(&shot.stdout).expect("JSON");
    assert_eq!(
        (&reports[0]["state"], &reports[0]["ip"]),
        (&Value::from("ok"), &Value::Null)
    );
}

#[test]
fn when_none_works_it_ends_with_5() {
    let shot = Stage::demo().test(["dead", "wrong password"]);
    assert_eq!(shot.code, Some(5), "{shot}");
}

#[test]
fn an_unknown_tag_ends_with_2_and_a_guess() {
    assert_shot!(Stage::demo().test(["fats"]), @"
    exit code: 2
    ----- stderr
    error: the config has no outbound `fats`

    hint: did you mean `fast`?
    ");
}

#[test]
fn nothing_is_written_where_saving_is_not_wanted() {
    let stage = Stage::demo();
    stage.test(["fast", "--no-ip", "--no-cache"]);
    let saved = |stage: &Stage| stage.scene.path(".cache").exists();
    assert!(!saved(&stage));
    stage.test(["fast", "--no-ip"]);
    assert!(saved(&stage), "else it is in the user's cache directory");
}

#[test]
fn a_cache_that_cannot_be_used_is_told_and_does_not_stop_it() {
    let stage = Stage::demo();
    std::fs::create_dir(stage.scene.path("folder")).expect("a folder");
    let shot = stage.test(["fast", "--no-ip", "--cache", "folder"]);
    assert_eq!(shot.code, Some(0), "{shot}");
    assert!(shot.stderr.contains("results are not saved"), "{shot}");
}

#[test]
fn another_programs_cache_is_left_alone() {
    let stage = Stage::demo();
    let mut config: Value = std::fs::read_to_string(stage.scene.path("config.json"))
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .expect("the config");
    config["experimental"]["cache_file"] =
        serde_json::json!({ "enabled": true, "path": "cache.db" });
    stage.scene.write("config.json", config.to_string());
    stage.scene.write("cache.db", "selected: fast");
    let shot = stage.test(["fast", "--no-ip"]);
    assert_eq!(shot.code, Some(0), "{shot}");
    assert!(shot.stderr.contains("another program's"), "{shot}");
    let kept = std::fs::read_to_string(stage.scene.path("cache.db")).expect("it is there");
    assert_eq!(kept, "selected: fast");
}

/// A world where one answers and one never does, and a config that waits for it.
fn one_answers_and_one_hangs() -> Stage {
    let stage = Stage::of(async {
        let mut world = World::start().await?;
        world.add(Proxy::socks("fast")).await?;
        world
            .add(Proxy::socks("mute").behaves(Behaviour::Hanging))
            .await?;
        Ok(world)
    });
    let config = std::fs::read_to_string(stage.scene.path("config.json")).expect("the config");
    let mut config: Value = serde_json::from_str(&config).expect("JSON");
    config["experimental"]["monitoring"]["on_demand_timeouts"] = serde_json::json!(["1h"]);
    stage.scene.write("config.json", config.to_string());
    stage
}

#[test]
fn ctrl_c_shows_what_is_known_and_ends_with_130() {
    let stage = one_answers_and_one_hangs();
    let mut command = stage
        .scene
        .outwatch(["test", "-c", "config.json", "--format", "jsonl"]);
    let mut running = Running::start(&mut command);
    let first: Value = serde_json::from_str(&running.says("fast")).expect("a JSON object");
    assert_eq!(
        (&first["tag"], &first["state"]),
        (&"fast".into(), &"ok".into())
    );
    running.signal("INT");
    let shot = running.end();
    assert_eq!(shot.code, Some(130), "{shot}");
    let last: Value = shot
        .stdout
        .lines()
        .last()
        .map(serde_json::from_str)
        .expect("a line")
        .expect("JSON");
    assert_eq!(
        (&last["tag"], &last["state"]),
        (&"mute".into(), &"untested".into()),
        "{shot}"
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let stage = Stage::demo();
    let mut command = stage
        .scene
        .outwatch(["test", "-c", "config.json", "--format", "jsonl"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    stdout.read_line(&mut line).expect("a line");
    drop(stdout);
    let shot = Shot::from(child.wait_with_output().expect("it ends"));
    assert_eq!((shot.code, shot.stderr.as_str()), (Some(0), ""), "{shot}");
}
