//! What can be written in the block, and what is only warned of.
//! These tests must not know how the reader is built.

use super::*;

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
