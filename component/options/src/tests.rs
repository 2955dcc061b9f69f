//! What can be written in the block and what is said about what cannot. These
//! tests must not know how the reader is built.

use std::time::Duration;

use outwatch_engine::{ExpectedStatus, StatusRange};

use super::*;

#[track_caller]
fn options(text: &str) -> Options {
    let (options, warnings) = read(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(warnings, [], "from {text}");
    options
}

/// One line a problem: path, message, and hint after a bar.
fn lines(problems: &[Problem]) -> Vec<String> {
    let line =
        |Problem {
             path,
             message,
             hint,
         }: &Problem| { format!("{path}: {message} | {}", hint.as_deref().unwrap_or("-")) };
    problems.iter().map(line).collect()
}

#[track_caller]
fn refuse(text: &str, expected: &[&str]) {
    let problems = read(text).expect_err("refused");
    assert_eq!(lines(&problems), expected, "from {text}");
}

#[track_caller]
fn warn(text: &str, expected: &[&str]) {
    let (options, warnings) = read(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(lines(&warnings), expected, "from {text}");
    assert_eq!(options, Options::default(), "from {text}");
}

#[test]
fn f1_an_absent_block_means_all_defaults() {
    for text in ["", "  \r\n", "{}", " { } "] {
        assert_eq!(options(text), Options::default());
    }
}

#[test]
fn f1_f2_every_field_is_read() {
    let text = r#"{
        "interval": "1m", "urls": ["http://a.example/", "https://b.example/x"],
        "ipinfo_url": "https://ip.example/json", "verify_ipv6": true,
        "ipv6_declared": { "a b": true, "🇩🇪": false }, "workers": 3,
        "url_test_timeout": "2s", "on_demand_timeouts": ["1s", "2s"], "idle_timeout": "1h",
        "debounce_window": "100ms", "expected_status": "200/204,400-499",
        "unified_delay": true, "ip_lookup": false, "immediate_limit": 5 }"#;
    let expected = Options {
        interval: Duration::from_secs(60),
        urls: vec![
            "http://a.example/".to_owned(),
            "https://b.example/x".to_owned(),
        ],
        ipinfo_url: Some("https://ip.example/json".to_owned()),
        verify_ipv6: true,
        ipv6_declared: [("a b".to_owned(), true), ("🇩🇪".to_owned(), false)].into(),
        workers: 3,
        url_test_timeout: Duration::from_secs(2),
        on_demand_timeouts: [1, 2].map(Duration::from_secs).to_vec(),
        idle_timeout: Duration::from_secs(3600),
        debounce_window: Duration::from_millis(100),
        expected_status: ExpectedStatus::List(vec![
            StatusRange {
                first: 200,
                last: 200,
            },
            StatusRange {
                first: 204,
                last: 204,
            },
            StatusRange {
                first: 400,
                last: 499,
            },
        ]),
        unified_delay: true,
        ip_lookup: false,
        immediate_limit: 5,
    };
    assert_eq!(options(text), expected);
    assert_eq!(
        options(&write(&expected)),
        expected,
        "what is written reads back the same"
    );
}

#[test]
fn f1_the_effective_options_are_written_with_all_defaults() {
    let text = r#"{
  "interval": "5m",
  "urls": [
    "https://www.gstatic.com/generate_204"
  ],
  "ipinfo_url": "",
  "verify_ipv6": false,
  "ipv6_declared": {},
  "workers": 10,
  "url_test_timeout": "5s",
  "on_demand_timeouts": [
    "1s",
    "3s",
    "10s"
  ],
  "idle_timeout": "10m",
  "debounce_window": "500ms",
  "expected_status": "auto",
  "unified_delay": false,
  "ip_lookup": true,
  "immediate_limit": 32
}"#;
    assert_eq!(write(&Options::default()), text);
    assert_eq!(options(text), Options::default());
}

#[test]
fn f1_an_empty_ipinfo_url_is_none() {
    assert_eq!(options(r#"{ "ipinfo_url": "" }"#).ipinfo_url, None);
}

#[test]
fn f1_the_retired_field_is_accepted_whatever_it_holds_with_one_warning() {
    for value in ["true", "null", "[]", r#"{ "a": 1 }"#, r#""x""#] {
        warn(
            &format!(r#"{{ "ipv6_probe": {value} }}"#),
            &[
                "ipv6_probe: is no longer used and has no effect | remove it; `verify_ipv6` asks \
               for a check through each outbound",
            ],
        );
    }
}

#[test]
fn f3_marks_are_sorted_and_each_is_kept_once() {
    let marks = |text: &str| {
        let marks = options(&format!(r#"{{ "on_demand_timeouts": {text} }}"#)).on_demand_timeouts;
        marks.iter().map(Duration::as_millis).collect::<Vec<_>>()
    };
    assert_eq!(
        marks(r#"["10s", "1s", "3000ms", "3s", "1s"]"#),
        [1000, 3000, 10_000]
    );
    assert_eq!(marks(r#"["2s"]"#), [2000]);
}

#[test]
fn f3_an_interval_longer_than_the_idle_timeout_is_accepted() {
    options(r#"{ "interval": "1h", "idle_timeout": "1m" }"#);
}

#[test]
fn f3_every_error_names_path_value_and_what_is_accepted() {
    let default = |text: &str| format!("leave the field out to use the default, {text}");
    let check = |text: &str, problem: &str, hint: &str| {
        refuse(text, &[&format!("{problem} | {hint}")]);
    };
    check(
        r#"{"workers":0}"#,
        "workers: must be at least 1 (found 0)",
        &default("10"),
    );
    check(
        r#"{"workers":-1}"#,
        "workers: must be at least 1 (found -1)",
        &default("10"),
    );
    check(
        r#"{"workers":10001}"#,
        "workers: must be at most 10000 (found 10001)",
        &default("10"),
    );
    check(
        r#"{"workers":1e300}"#,
        "workers: must be at most 10000 (found 1e+300)",
        &default("10"),
    );
    check(
        r#"{"workers":"4"}"#,
        r#"workers: must be a whole number from 1 to 10000 (found "4")"#,
        &default("10"),
    );
    check(
        r#"{"immediate_limit":1.5}"#,
        "immediate_limit: must be a whole number from 1 to 10000 (found 1.5)",
        &default("32"),
    );
    check(
        r#"{"verify_ipv6":"yes"}"#,
        r#"verify_ipv6: must be true or false (found "yes")"#,
        &default("false"),
    );
    check(
        r#"{"ip_lookup":null}"#,
        "ip_lookup: must be true or false (found null)",
        &default("true"),
    );
    check(
        r#"{"urls":[]}"#,
        "urls: must have at least one item (found an empty list)",
        &default(r#"["https://www.gstatic.com/generate_204"]"#),
    );
    check(
        r#"{"ipv6_declared":[]}"#,
        r#"ipv6_declared: must be an object of tags, such as { "my tag": true } (found an empty list)"#,
        &default("{}"),
    );
    check(
        r#"{"on_demand_timeouts":[]}"#,
        "on_demand_timeouts: must have at least one item (found an empty list)",
        &default(r#"["1s","3s","10s"]"#),
    );
}

#[test]
fn f3_a_wrong_duration_is_explained() {
    let form = r#"must be a duration such as "500ms", "5s", "1m30s", "1h" or "1d""#;
    let default = r#"leave the field out to use the default, "5m""#;
    refuse(
        r#"{"interval":"0s"}"#,
        &[&format!(
            r#"interval: must be more than zero (found "0s") | {default}"#
        )],
    );
    refuse(
        r#"{"interval":"-5m"}"#,
        &[&format!(
            r#"interval: must be more than zero (found "-5m") | {default}"#
        )],
    );
    refuse(
        r#"{"interval":"5 min"}"#,
        &[&format!(r#"interval: {form} (found "5 min") | {default}"#)],
    );
    refuse(
        r#"{"interval":""}"#,
        &[&format!(r#"interval: {form} (found "") | {default}"#)],
    );
    refuse(
        r#"{"interval":true}"#,
        &[&format!("interval: {form} (found true) | {default}")],
    );
    refuse(
        r#"{"interval":300}"#,
        &[&format!(
            r#"interval: {form} (found 300) | write the unit too: "300s" or "300ms""#
        )],
    );
    refuse(
        r#"{"interval":"300"}"#,
        &[&format!(
            r#"interval: {form} (found "300") | write the unit too: ns, us, ms, s, m, h or d"#
        )],
    );
    refuse(
        r#"{"interval":"11y1d"}"#,
        &[&format!(r#"interval: {form} (found "11y1d") | {default}"#)],
    );
    refuse(
        r#"{"interval":"4000d"}"#,
        &[&format!(
            r#"interval: must be at most ten years (3650d) (found "4000d") | {default}"#
        )],
    );
}

#[test]
fn f3_a_wrong_address_is_explained() {
    let scheme = "must start with http:// or https://";
    refuse(
        r#"{"urls":["https://a.example","ftp://b.example",7,"c.example/x"]}"#,
        &[
            &format!(r#"urls[1]: {scheme} (found "ftp://b.example") | -"#),
            "urls[2]: must be a string with an http or https address (found 7) | -",
            &format!(r#"urls[3]: {scheme} (found "c.example/x") | write "https://c.example/x""#),
        ],
    );
    refuse(
        r#"{"ipinfo_url":"http://:80"}"#,
        &[
            r#"ipinfo_url: must name a host after http(s):// (found "http://:80") | leave the field out to use the default, """#,
        ],
    );
}

#[test]
fn t5_a_wrong_expected_status_is_explained() {
    let form = r#"must be "auto", "any" or statuses from 100 to 599 such as "200/204", "200,302" or "400-499""#;
    refuse(
        r#"{"expected_status":"2xx"}"#,
        &[&format!(
            r#"expected_status: {form} (found "2xx") | leave the field out to use the default, "auto""#
        )],
    );
    refuse(
        r#"{"expected_status":204}"#,
        &[&format!(
            r#"expected_status: {form} (found 204) | write "204""#
        )],
    );
}

#[test]
fn f4_an_unknown_field_is_a_warning_with_a_guess() {
    let warning = "is not a known field and has no effect";
    let hint = "remove it, or look for a version of the engine that knows it";
    warn(
        r#"{"wrokers":3,"url":"http://a.example","Interval":"1m","speed test":1,"idle-timeout":1}"#,
        &[
            &format!("wrokers: {warning} | did you mean `workers`?"),
            &format!("url: {warning} | did you mean `urls`?"),
            &format!("Interval: {warning} | did you mean `interval`?"),
            &format!(r#"["speed test"]: {warning} | {hint}"#),
            &format!("idle-timeout: {warning} | did you mean `idle_timeout`?"),
        ],
    );
}

#[test]
fn f3_all_errors_are_told_at_once_in_the_order_of_the_text() {
    refuse(
        r#"{"workers":0,"speed":1,"urls":["x://y",""],"ipv6_declared":{"a b":1,"c":true,"d":null},
            "verify_ipv6":1,"on_demand_timeouts":["1s","0s"]}"#,
        &[
            "workers: must be at least 1 (found 0) | leave the field out to use the default, 10",
            r#"urls[0]: must start with http:// or https:// (found "x://y") | -"#,
            r#"urls[1]: must start with http:// or https:// (found "") | -"#,
            r#"ipv6_declared["a b"]: must be true or false (found 1) | -"#,
            "ipv6_declared.d: must be true or false (found null) | -",
            "verify_ipv6: must be true or false (found 1) | leave the field out to use the default, false",
            r#"on_demand_timeouts[1]: must be more than zero (found "0s") | -"#,
        ],
    );
}

#[test]
fn f5_a_bare_string_is_a_list_of_one() {
    let found = options(r#"{"urls":"http://a.example","on_demand_timeouts":"2s"}"#);
    assert_eq!(found.urls, ["http://a.example"]);
    assert_eq!(found.on_demand_timeouts, [Duration::from_secs(2)]);
    refuse(
        r#"{"urls":"a","on_demand_timeouts":5}"#,
        &[
            r#"urls: must start with http:// or https:// (found "a") | leave the field out to use the default, ["https://www.gstatic.com/generate_204"]"#,
            r#"on_demand_timeouts: must be a list of strings (found 5) | leave the field out to use the default, ["1s","3s","10s"]"#,
        ],
    );
}

#[test]
fn f3_of_a_field_given_twice_the_last_one_counts_and_the_others_are_not_read() {
    let (options, warnings) =
        read(r#"{"workers":0,"ipv6_declared":{"a":true,"a":false},"workers":7}"#).expect("read");
    assert_eq!(options.workers, 7);
    assert_eq!(options.ipv6_declared, [("a".to_owned(), false)].into());
    let message = "is given more than once; only the last one counts | remove the others";
    assert_eq!(
        lines(&warnings),
        [
            format!("workers: {message}"),
            format!("ipv6_declared.a: {message}")
        ]
    );
}

#[test]
fn f5_tags_are_kept_byte_by_byte() {
    let text = r#"{"ipv6_declared":{" a ":true,"A":true,"a":false,"":true,"\u0646":true}}"#;
    let tags: Vec<_> = options(text).ipv6_declared.into_keys().collect();
    assert_eq!(tags, ["", " a ", "A", "a", "\u{646}"]);
}

#[test]
fn f4_text_that_is_no_object_is_one_error_about_all_of_it() {
    let hint = r#"write { "interval": "5m" }, or leave it out to use the defaults"#;
    for (text, found) in [
        ("[]", "an empty list"),
        ("null", "null"),
        ("\"5m\"", "\"5m\""),
    ] {
        refuse(
            text,
            &[&format!(": must be an object (found {found}) | {hint}")],
        );
    }
    refuse(
        "{\"workers\": 1,\n}",
        &[
            ": must be JSON, but it is not: trailing comma at line 2 column 1 | comments and \
           trailing commas are for files only",
        ],
    );
    for text in [
        "{",
        "{} x",
        "workers: 1",
        "{'workers':1}",
        "{\"a\":1e999}",
        "\u{feff}{}",
    ] {
        let problems = read(text).expect_err("no JSON");
        assert_eq!(problems.len(), 1, "{text}");
        assert!(
            problems[0].message.starts_with("must be JSON"),
            "{problems:?}"
        );
    }
}

#[test]
fn f3_hostile_values_are_shown_harmless_and_short() {
    let text = format!(r#"{{"interval":"\u001b[31m{}"}}"#, "x".repeat(5000));
    let problems = read(&text).expect_err("no duration");
    assert!(!problems[0].message.contains('\u{1b}'), "{problems:?}");
    assert!(problems[0].message.len() < 300, "{problems:?}");
}
