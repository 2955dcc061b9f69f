//! `outwatch check`: good configs, and many bad ones (`bad/`, one file each).

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::scene::{Scene, Shot, assert_shot};

const GOOD: &str = r#"// A bit of everything.
{
  "outbounds": [
    { "type": "socks", "tag": "🇩🇪 Berlin", "server": "192.0.2.1", "server_port": 1080 },
    { "type": "http", "tag": "office", "server": "proxy.example", "server_port": 8443,
      "tls": { "enabled": true }, "detour": "🇩🇪 Berlin" },
    { "type": "direct", "tag": "direct" },
    { "type": "block", "tag": "no" },
    { "type": "hysteria2", "tag": "hy", "server": "192.0.2.2", "server_port": 443 },
    { "type": "selector", "tag": "choice", "outbounds": ["auto", "direct"] },
    { "type": "urltest", "tag": "auto", "outbounds": ["🇩🇪 Berlin", "office"] },
  ],
  "experimental": { "monitoring": { "interval": "1m", "workers": 4 } },
}
"#;

#[test]
fn a_good_config_is_summed_up() {
    let scene = Scene::with("good.json", GOOD);
    assert_shot!(scene.run(["check", "-c", "good.json"]), @r#"
    exit code: 0
    ----- stdout
    good.json can be used

    would be tested
      1 direct
      1 http
      1 socks
      3 in all

    would not be tested
      no (block): it leads nowhere
      hy (hysteria2): the built-in core has no `hysteria2`; with `--core sing-box` it works, or when Outwatch is embedded in a core that has it

    groups lead to
      choice (selector, 2 members) -> auto -> the best of its members, once tested
      auto (urltest, 2 members) -> the best of its members, once tested

    options in force
      interval: "1m"
      urls: ["https://www.gstatic.com/generate_204"]
      ipinfo_url: ""
      verify_ipv6: false
      ipv6_declared: {}
      workers: 4
      url_test_timeout: "5s"
      on_demand_timeouts: ["1s","3s","10s"]
      idle_timeout: "10m"
      debounce_window: "500ms"
      expected_status: "auto"
      unified_delay: false
      ip_lookup: true
      immediate_limit: 32
    "#);
}

#[test]
fn f4_an_unknown_field_is_a_warning_and_an_error_when_strict() {
    let config = r#"{ "outbounds": [{ "type": "direct", "tag": "d", "colour": 1 }] }"#;
    let scene = Scene::with("odd.json", config);
    let lenient = scene.run(["check", "-c", "odd.json"]);
    assert_eq!(lenient.code, Some(0), "{lenient}");
    assert!(
        lenient.stderr.contains("warning: outbounds[0].colour"),
        "{lenient}"
    );
    assert_shot!(scene.run(["check", "-c", "odd.json", "--strict"]), @"
    exit code: 3
    ----- stderr
    odd.json:1:49: error: outbounds[0].colour: unknown field; it has no effect
    error: 1 error in odd.json
    ");
}

#[test]
fn f5_a_repeated_tag_is_numbered_when_asked_for() {
    let twice =
        r#"{ "outbounds": [{ "type": "direct", "tag": "d" }, { "type": "block", "tag": "d" }] }"#;
    let scene = Scene::with("twice.json", twice);
    assert_eq!(scene.run(["check", "-c", "twice.json"]).code, Some(3));
    let numbered = scene.run(["check", "-c", "twice.json", "--dedupe-tags"]);
    assert_eq!(numbered.code, Some(0), "{numbered}");
    assert!(numbered.stdout.contains("d #2 (block)"), "{numbered}");
}

#[test]
fn a_config_can_come_from_a_pipe() {
    let scene = Scene::new();
    let mut command = scene.outwatch(["check", "-c", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(GOOD.as_bytes()).expect("it reads");
    drop(stdin);
    let shot = Shot::from(child.wait_with_output().expect("it ends"));
    assert_eq!(shot.code, Some(0), "{shot}");
    assert!(
        shot.stdout.starts_with("standard input can be used\n"),
        "{shot}"
    );
}

#[test]
fn a_check_starts_nothing_and_saves_no_results() {
    let scene = Scene::with("good.json", GOOD);
    scene.run(["check", "-c", "good.json"]);
    assert_eq!(scene.files(), [scene.path("good.json")]);
}

#[test]
fn a_tag_cannot_speak_to_the_terminal() {
    let config = r#"{ "outbounds": [{ "type": "block", "tag": "\u001b[2J\u202e" }] }"#;
    let shot = Scene::with("evil.json", config).run(["check", "-c", "evil.json"]);
    assert!(
        !shot.to_string().contains(['\u{1b}', '\u{202e}']),
        "{shot:?}"
    );
    assert!(shot.stdout.contains(r"\u{1b}[2J\u{202e}"), "{shot}");
}

/// F-4, F-5: each file is wrong in a way of its own, and each is told where, what
/// and how to put it right. None ends with anything but 3.
#[test]
fn every_bad_config_is_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/bad");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    assert!(files.len() >= 20, "{}", files.len());
    let mut told = String::new();
    for file in files {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let scene = Scene::with("c.json", std::fs::read(&file).expect("a file"));
        let shot = scene.run(["check", "-c", "c.json"]);
        assert_eq!(
            (shot.code, shot.stdout.as_str()),
            (Some(3), ""),
            "{name}: {shot}"
        );
        told += &format!("{name}\n{}\n", shot.stderr);
    }
    assert_shot!(told, @r#"
    a_list.json
    c.json:1:1: error: a config is an object (found a list)
      hint: the least is { "outbounds": [...] }
    error: 1 error in c.json

    base64.json
    c.json:1:1: error: this looks like base64 text with a share link inside (a subscription), not a config for Outwatch
      hint: `outwatch import FILE` makes a config of it
    error: 1 error in c.json

    cache_flag_as_number.json
    c.json:1:1: warning: there is nothing to test: no outbound and no endpoint is listed
    c.json:1:55: error: experimental.cache_file.enabled: expected true or false (found 1)
    error: 1 error in c.json

    certificate_not_pem.json
    c.json:2:29: error: outbounds[0].tls.certificate: holds no PEM certificate (-----BEGIN CERTIFICATE-----)
    error: 1 error in c.json

    cut_off.json
    c.json:1:16: error: outbounds: this `[` is never closed
      hint: the file ends before; is it complete?
    error: 1 error in c.json

    detour_loop.json
    c.json:2:75: error: outbounds[0].detour: a loop: A -> B -> A
      hint: a member or a detour must not lead back; remove one of these links
    error: 1 error in c.json

    empty.json
    c.json:1:1: error: the file is empty
      hint: a config is an object with `outbounds`; see examples/
    error: 1 error in c.json

    flag_as_string.json
    c.json:2:37: error: experimental.monitoring.verify_ipv6: must be true or false (found "yes")
      hint: leave the field out to use the default, false
    error: 1 error in c.json

    group_loop.json
    c.json:2:37: error: outbounds[0].outbounds: a loop: A -> B -> A
      hint: a member or a detour must not lead back; remove one of these links
    error: 1 error in c.json

    interval_zero.json
    c.json:2:37: error: experimental.monitoring.interval: must be more than zero (found "0s")
      hint: leave the field out to use the default, "5m"
    error: 1 error in c.json

    member_unknown.json
    c.json:2:51: error: outbounds[0].outbounds[0]: there is no outbound or endpoint "Frankfurd"
      hint: did you mean "Frankfurt"?
    error: 1 error in c.json

    members_missing.json
    c.json:1:18: error: outbounds[0]: the group "s" has no members
      hint: list the tags of at least one outbound in `outbounds`
    error: 1 error in c.json

    missing_comma.json
    c.json:1:51: error: outbounds[0]: expected a comma after this value
      hint: put a `,` between two values
    error: 1 error in c.json

    not_utf8.json
    c.json:1:46: error: this byte is not UTF-8 text
      hint: save the file as UTF-8
    error: 1 error in c.json

    options_several.json
    c.json:3:5: error: experimental.monitoring.workers: must be at least 1 (found 0)
      hint: leave the field out to use the default, 10
    c.json:4:5: error: experimental.monitoring.urls: must have at least one item (found an empty list)
      hint: leave the field out to use the default, ["https://www.gstatic.com/generate_204"]
    c.json:5:28: error: experimental.monitoring.on_demand_timeouts[0]: must be a duration such as "500ms", "5s", "1m30s", "1h" or "1d" (found "soon")
    c.json:6:5: error: experimental.monitoring.expected_status: must be "auto", "any" or statuses from 100 to 599 such as "200/204", "200,302" or "400-499" (found "maybe")
      hint: leave the field out to use the default, "auto"
    error: 4 errors in c.json

    outbound_as_string.json
    c.json:1:18: error: outbounds[0]: expected an object (found "direct")
      hint: an outbound is { "type": ..., "tag": ... }
    error: 1 error in c.json

    outbounds_as_object.json
    c.json:1:3: error: outbounds: expected a list of objects (found an object)
      hint: write "outbounds": [ { ... } ]
    error: 1 error in c.json

    port_too_large.json
    c.json:1:72: error: outbounds[0].server_port: 70000 is no port; expected 1 to 65535
    error: 1 error in c.json

    server_missing.json
    c.json:1:18: error: outbounds[0]: missing field `server`
    error: 1 error in c.json

    several_kinds.json
    c.json:3:64: error: outbounds[0].server_port: 70000 is no port; expected 1 to 65535
    c.json:4:41: warning: outbounds[1].colour: unknown field; it has no effect
    c.json:6:37: error: experimental.monitoring.interval: must be more than zero (found "0s")
      hint: leave the field out to use the default, "5m"
    error: 2 errors in c.json

    tag_as_number.json
    c.json:1:38: error: outbounds[0].tag: expected a text in double quotes (found 7)
    error: 1 error in c.json

    tag_twice.json
    c.json:3:22: error: outbounds[1].tag: the tag "d" of outbounds[1] is taken by outbounds[0]
      hint: give each its own tag, or load with --dedupe-tags
    error: 1 error in c.json

    type_missing.json
    c.json:1:18: error: outbounds[0]: the field `type` is missing
      hint: the type is a word such as "socks", "http", "direct" or "selector"
    error: 1 error in c.json

    url_scheme.json
    c.json:2:80: error: experimental.monitoring.urls[1]: must start with http:// or https:// (found "ftp://b.example/")
    error: 1 error in c.json

    xray.json
    c.json:1:20: error: outbounds[0].protocol: this looks like a config of Xray or V2Ray, not a config for Outwatch
      hint: an outbound of sing-box has a `type`, not a `protocol`; have an app or a converter make a sing-box config of it
    error: 1 error in c.json

    yaml.json
    c.json:1:1: error: this looks like YAML, not a config for Outwatch
      hint: Outwatch reads a sing-box style JSON config; have an app or a converter make one from it
    error: 1 error in c.json
    "#);
}
