//! What is said about what cannot be written in the block.
//! These tests must not know how the reader is built.

use super::*;

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
