//! `outwatch import`: from links to a config that the other verbs take.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::scene::{Scene, Shot, assert_shot};

const LINKS: &str = "\
# A list as people have it.
trojan://open-sesame@192.0.2.1:443?sni=front.example&ipv6=0#%F0%9F%87%A9%F0%9F%87%AA%20Berlin
vless://b831381d-6324-4d53-ad4f-8cda48b30811@192.0.2.2:443?security=tls&type=xhttp#Tokyo
ss://YWVzLTI1Ni1nY206b3Blbi1zZXNhbWU@192.0.2.3:8388#Oslo
trojan://open-sesame@192.0.2.1:443#Expires%202026-12-31
hy2://open-sesame@192.0.2.4:443?pinSHA256=aa#\u{202e}Rome
open-sesame
";

#[test]
fn good_links_become_a_config_and_bad_ones_are_named_by_line() {
    let scene = Scene::with("links.txt", LINKS);
    assert_shot!(scene.run(["import", "links.txt", "-o", "config.json"]), @r#"
    exit code: 0
    ----- stderr
    links.txt:3: error: vless "Tokyo": it travels in `xhttp`, which sing-box has not
    links.txt:5: note: trojan "Expires 2026-12-31": it tells about the subscription, and is no outbound
    links.txt:6: warning: "\u{202e}Rome": the certificate that it pins is not in the config: sing-box pins none
    links.txt:7: error: this is no share link
    3 outbounds in config.json; 2 links cannot be used

    Next: outwatch test -c config.json
    "#);
    let checked = scene.run(["check", "-c", "config.json", "--core", "native", "--strict"]);
    assert_eq!(checked.code, Some(0), "{checked}");
    let config = std::fs::read_to_string(scene.path("config.json")).expect("a config");
    let config: Value = serde_json::from_str(&config).expect("JSON");
    let declared = &config["experimental"]["monitoring"]["ipv6_declared"];
    assert_eq!(declared["🇩🇪 Berlin"], false, "V-1");
}

#[test]
fn without_a_file_the_config_goes_to_standard_output() {
    let scene = Scene::new();
    let mut command = scene.outwatch(["import", "-"]);
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(LINKS.as_bytes()).expect("it reads");
    drop(stdin);
    let shot = Shot::from(child.wait_with_output().expect("it ended"));
    assert_eq!(shot.code, Some(0), "{shot}");
    let config: Value = serde_json::from_str(&shot.stdout).expect("JSON");
    assert_eq!(
        config["outbounds"].as_array().map(Vec::len),
        Some(5),
        "{shot}"
    );
    assert!(
        shot.stderr.starts_with("standard input:3: error: "),
        "{shot}"
    );
    assert!(
        !shot.stderr.contains("sesame"),
        "secrets are in the config alone: {shot}"
    );
}

#[test]
fn a_file_that_is_there_is_not_written_over_unasked() {
    let scene = Scene::with("links.txt", LINKS);
    scene.write("config.json", "mine");
    let shot = scene.run(["import", "links.txt", "-o", "config.json"]);
    assert_eq!(shot.code, Some(2), "{shot}");
    assert!(
        shot.stderr
            .contains("there is a file `config.json` already"),
        "{shot}"
    );
    let kept = std::fs::read_to_string(scene.path("config.json")).expect("a file");
    assert_eq!(kept, "mine");
    let forced = scene.run(["import", "links.txt", "-o", "config.json", "--force"]);
    assert_eq!(forced.code, Some(0), "{forced}");
    let files = scene.files();
    assert_eq!(files.len(), 2, "nothing is left behind: {files:?}");
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_config() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::with("links.txt", LINKS);
    scene.run(["import", "links.txt", "-o", "config.json"]);
    let written = std::fs::metadata(scene.path("config.json")).expect("a file");
    assert_eq!(written.permissions().mode() & 0o077, 0);
}

#[test]
fn where_nothing_can_be_used_nothing_is_written() {
    let scene = Scene::with("links.txt", "hello\n");
    assert_shot!(scene.run(["import", "links.txt", "-o", "config.json"]), @"
    exit code: 3
    ----- stderr
    links.txt:1: error: this is no share link
    error: there is no link in links.txt to be used
    ");
    assert!(!scene.path("config.json").exists());
    scene.write("links.txt", LINKS);
    let strict = scene.run(["import", "links.txt", "--strict"]);
    assert_eq!(
        (strict.code, strict.stdout.as_str()),
        (Some(3), ""),
        "{strict}"
    );
    assert!(
        strict.stderr.ends_with("error: 2 links cannot be used\n"),
        "{strict}"
    );
}

#[test]
fn a_config_is_told_from_links() {
    let scene = Scene::with("mine.json", r#"{ "outbounds": [{ "type": "direct" }] }"#);
    let shot = scene.run(["import", "mine.json"]);
    assert_eq!(shot.code, Some(3), "{shot}");
    assert!(shot.stderr.contains("this is a config already"), "{shot}");
    let missing = scene.run(["import", "missing.txt"]);
    assert_eq!(missing.code, Some(3), "{missing}");
}
