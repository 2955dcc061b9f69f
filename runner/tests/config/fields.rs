//! Fields of a wrong type, unknown fields, entries that are none.

use insta::assert_snapshot;
use outwatch::config::{self, LoadOptions};

use crate::{PLAIN, check};

#[test]
fn f5_containers_of_a_wrong_type_are_errors_that_show_what_was_found() {
    assert_snapshot!(check(r#"{ "outbounds": { "type": "direct" } }"#), @r#"
    c.json:1:3: error: outbounds: expected a list of objects (found an object)
      hint: write "outbounds": [ { ... } ]
    "#);
    assert_snapshot!(check(r#"{ "outbounds": "direct", "endpoints": 5 }"#), @r#"
    c.json:1:3: error: outbounds: expected a list of objects (found "direct")
      hint: write "outbounds": [ { ... } ]
    c.json:1:26: error: endpoints: expected a list of objects (found 5)
      hint: write "endpoints": [ { ... } ]
    "#);
    assert_snapshot!(check(r#"{ "outbounds": [], "log": true, "experimental": [], "certificate": "mozilla" }"#), @r#"
    c.json:1:1: warning: there is nothing to test: no outbound and no endpoint is listed
    c.json:1:20: error: log: expected an object (found true)
      hint: write "log": { ... }, or leave it out
    c.json:1:33: error: experimental: expected an object (found an empty list)
      hint: write "experimental": { ... }, or leave it out
    c.json:1:53: error: certificate: expected an object (found "mozilla")
      hint: write "certificate": { ... }, or leave it out
    "#);
}

#[test]
fn f5_entries_that_are_no_objects_are_errors_all_at_once() {
    assert_snapshot!(check(r#"{ "outbounds": [5, "vless://a@b:1", null, [], { "type": "direct" }] }"#), @r#"
    c.json:1:17: error: outbounds[0]: expected an object (found 5)
      hint: an outbound is { "type": ..., "tag": ... }
    c.json:1:20: error: outbounds[1]: expected an object (found "vless://a@b:1")
      hint: a share link has to be turned into an object first, by an app or a converter
    c.json:1:37: error: outbounds[2]: expected an object (found null)
      hint: an outbound is { "type": ..., "tag": ... }
    c.json:1:43: error: outbounds[3]: expected an object (found an empty list)
      hint: an outbound is { "type": ..., "tag": ... }
    "#);
}

#[test]
fn f5_an_outbound_needs_a_type() {
    assert_snapshot!(check("{ \"outbounds\": [\n { \"tag\": \"a\" },\n { \"type\": \"\" },\n { \"type\": 5 },\n { \"type\": null },\n { \"type\": \"selector\", \"outbounds\": [\"a\"] } ] }"), @r#"
    c.json:2:2: error: outbounds[0]: the field `type` is missing
      hint: the type is a word such as "socks", "http", "direct" or "selector"
    c.json:3:4: error: outbounds[1].type: expected the name of a type (found "")
      hint: the type is a word such as "socks", "http", "direct" or "selector"
    c.json:4:4: error: outbounds[2].type: expected the name of a type (found 5)
      hint: the type is a word such as "socks", "http", "direct" or "selector"
    c.json:5:4: error: outbounds[3].type: expected the name of a type (found null)
      hint: the type is a word such as "socks", "http", "direct" or "selector"
    "#);
}

#[test]
fn f5_texts_are_texts() {
    assert_snapshot!(check(r#"{ "outbounds": [{ "type": "direct", "tag": 5, "detour": ["a"] }] }"#), @r#"
    c.json:1:37: error: outbounds[0].tag: expected a text in double quotes (found 5)
    c.json:1:47: error: outbounds[0].detour: expected a text in double quotes (found a list)
    "#);
}

#[test]
fn f4_unknown_fields_are_warnings_with_a_suggestion() {
    assert_snapshot!(check("{\n  \"outbound\": [],\n  \"outbounds\": [],\n  \"experimental\": { \"monitor\": {}, \"cache_file\": { \"enable\": true, \"store_fakeip\": true } },\n  \"log\": { \"Level\": \"info\" }\n}"), @r#"
    c.json:1:1: warning: there is nothing to test: no outbound and no endpoint is listed
    c.json:2:3: warning: outbound: unknown field "outbound", ignored
      hint: did you mean "outbounds"?
    c.json:4:21: warning: experimental.monitor: unknown field "monitor", ignored
    c.json:4:52: warning: experimental.cache_file.enable: unknown field "enable", ignored
      hint: did you mean "enabled"?
    c.json:5:12: warning: log.Level: unknown field "Level", ignored
      hint: did you mean "level"?
    "#);
}

#[test]
fn f4_the_log_and_the_cache_file_are_checked() {
    assert_snapshot!(check("{ \"outbounds\": [],\n \"log\": { \"level\": \"verbose\", \"disabled\": \"yes\" },\n \"experimental\": { \"cache_file\": { \"enabled\": 1, \"path\": [] } } }"), @r#"
    c.json:1:1: warning: there is nothing to test: no outbound and no endpoint is listed
    c.json:2:11: error: log.level: unknown level "verbose"
      hint: levels are trace, debug, info, warn, error, fatal, panic
    c.json:2:31: error: log.disabled: expected true or false (found "yes")
    c.json:3:36: error: experimental.cache_file.enabled: expected true or false (found 1)
    c.json:3:50: error: experimental.cache_file.path: expected a text in double quotes (found an empty list)
    "#);
}

#[test]
fn f4_strict_makes_errors_of_warnings() {
    let text = br#"{ "outbounds": [{ "type": "direct" }], "surprise": 1 }"#;
    assert!(config::read("c.json", text, &PLAIN).config.is_some());
    let strict = config::read(
        "c.json",
        text,
        &LoadOptions {
            strict: true,
            ..PLAIN
        },
    );
    assert!(strict.config.is_none());
    assert_snapshot!(strict.source.render(&strict.problems), @r#"c.json:1:40: error: surprise: unknown field "surprise", ignored"#);
}

#[test]
fn f4_a_position_is_that_of_the_nearest_value_there_is() {
    let text = "{ \"outbounds\": [\n  { \"type\": \"http\",\n    \"tls\": { \"alpn\": [\"h2\"] } }\n],\n\"a.b\": { \"[0]\": 1 } }";
    let source = config::read("c.json", text.as_bytes(), &PLAIN).source;
    let at = |path| {
        source
            .position(path)
            .map(|position| (position.line, position.column))
    };
    assert_eq!(at("outbounds[0].tls.alpn[0]"), Some((3, 23)));
    assert_eq!(at("outbounds[0].tls.alpn[7]"), Some((3, 14)), "the list");
    assert_eq!(at("outbounds[0].server_port"), Some((2, 3)), "the object");
    assert_eq!(at("outbounds[9].tls"), Some((1, 3)), "the section");
    assert_eq!(at("a.b.[0]"), Some((5, 10)), "keys with dots and brackets");
    assert_eq!(at("nowhere"), Some((1, 1)));
    assert_eq!(at(""), Some((1, 1)));
}

#[test]
fn f4_a_file_that_cannot_be_read_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let missing = config::load(&folder.path().join("nowhere.json"), &PLAIN);
    let directory = config::load(folder.path(), &PLAIN);
    insta::with_settings!({ filters => vec![(folder.path().to_str().unwrap(), "FOLDER")] }, {
        assert_snapshot!(missing.source.render(&missing.problems), @r#"
        FOLDER/nowhere.json: error: there is no such file
          hint: check the path's spelling
        "#);
        assert_snapshot!(directory.source.render(&directory.problems), @r#"
        FOLDER: error: this is a directory
          hint: give a file inside it
        "#);
    });
    assert!(missing.config.is_none());
}

#[test]
fn nothing_in_a_file_can_write_to_the_terminal() {
    let shown = check(
        "{ \"outbounds\": [{ \"type\": \"selector\", \"tag\": \"s\", \"outbounds\": [\"\\u001b[31m\\u202e\\n\"] }], \"k\\u0007\": 1 }",
    );
    assert_snapshot!(shown, @r#"
    c.json:1:65: error: outbounds[0].outbounds[0]: there is no outbound or endpoint "\u{1b}[31m\u{202e}\u{a}"
      hint: correct the tag, or remove it from the group
    c.json:1:91: warning: k\u{7}: unknown field "k\u{7}", ignored
    "#);
}

#[test]
fn of_very_many_problems_the_errors_are_shown_and_the_rest_is_counted() {
    let fields: String = (0..500).map(|n| format!("\"unknown{n}\": 1, ")).collect();
    let shown = check(&format!("{{ {fields} \"outbounds\": 5 }}"));
    assert!(shown.contains("error: outbounds"), "{shown}");
    assert!(shown.ends_with("... and 401 more\n"), "{shown}");
}
