//! What counts as an answer of an IP information service (I-3).
//! These tests must not know how the reader is built.

use super::*;

#[test]
fn i3_only_status_200_counts() {
    for status in [0, 100, 199, 201, 204, 301, 403, 404, 429, 500, 503] {
        let answer = read_answer(URL, status, br#"{"ip":"1.1.1.1"}"#, false);
        let failure = answer.expect_err("does not count");
        assert_eq!(failure.kind, ErrorKind::HttpStatus);
        assert_eq!(
            failure.text,
            format!("ipapi.co answered with HTTP status {status}")
        );
    }
}

#[test]
fn i3_a_body_of_64_kib_counts_and_a_longer_one_does_not() {
    let answer = r#"{"ip":"1.1.1.1"}"#;
    let body = |len: usize| answer.to_owned() + &" ".repeat(len - answer.len());
    check(&body(64 * 1024), "1.1.1.1 | - | - | - | - | -");
    refuse(body(64 * 1024 + 1), "more than 64 KiB");
}

#[test]
fn i3_a_body_cut_off_by_the_limit_does_not_count() {
    let mut body = format!(r#"{{"ip":"1.1.1.1","x":"{}"}}"#, "x".repeat(64 * 1024));
    body.truncate(64 * 1024);
    refuse(body, "sent no JSON");
}

#[test]
fn i3_a_service_that_says_it_failed_is_believed() {
    let ip = r#""ip":"1.1.1.1""#;
    for (field, why) in [
        (
            r#""error":true,"reason":"RateLimited""#,
            "(`error` is true): `RateLimited`",
        ),
        (
            r#""success":false,"message":"You've hit the limit""#,
            "`You've hit the limit`",
        ),
        (
            r#""status":"fail","message":"private range""#,
            "`private range`",
        ),
        (r#""bogon":true"#, "`bogon` is true"),
        (
            r#""status":404,"error":{"title":"Wrong ip"}"#,
            "(`status` is a number): `Wrong ip`",
        ),
        (r#""status":200"#, "`status` is a number"),
    ] {
        refuse(format!("{{{ip},{field}}}"), why);
        refuse(format!("{{{field}}}"), why);
    }
}

#[test]
fn i3_the_same_fields_with_other_values_are_no_complaint() {
    for field in [
        r#""error":false"#,
        r#""error":null"#,
        r#""success":true"#,
        r#""status":"success""#,
        r#""bogon":false"#,
        r#""status":null"#,
        r#""success":"false""#,
    ] {
        check(
            &format!(r#"{{"ip":"1.1.1.1",{field}}}"#),
            "1.1.1.1 | - | - | - | - | -",
        );
    }
}

#[test]
fn i3_what_is_no_json_object_does_not_count() {
    refuse("", "an empty body");
    refuse(" \r\n\u{feff}", "an empty body");
    refuse(
        "<!DOCTYPE html><html>ip=1.1.1.1</html>",
        "sent HTML: `<!DOCTYPE html>",
    );
    refuse("  <html>\n<body>\n", "sent HTML: `<html> <body>`");
    refuse("[]", "no object: `[]`");
    refuse(r#"[{"ip":"1.1.1.1"}]"#, "no object");
    refuse("null", "no object: `null`");
    refuse("true", "no object");
    refuse("1", "no object");
    refuse(r#""1.1.1.1""#, "no object");
    refuse("1.1.1.1", "sent no JSON");
    refuse("Too many requests", "`Too many requests`");
    refuse(r#"{"ip":"1.1.1.1""#, "sent no JSON");
    refuse(r#"{"ip":"1.1.1.1"} x"#, "sent no JSON");
    refuse("{ip:1.1.1.1}", "sent no JSON");
    refuse([0xff, 0xfe, 0x00], "sent no JSON");
    refuse("{}", "no IP address");
}

#[test]
fn i3_an_answer_nested_without_end_is_refused_and_nothing_overflows() {
    let deep = |open: &str, close: &str| {
        let depth = 60_000 / (open.len() + close.len());
        format!("{}1{}", open.repeat(depth), close.repeat(depth))
    };
    refuse(deep("[", "]"), "recursion limit");
    refuse(deep(r#"{"ip":"#, "}"), "recursion limit");
    refuse("[".repeat(64 * 1024), "recursion limit");
    refuse(
        format!(r#"{{"ip":"1.1.1.1","x":{}}}"#, deep("[", "]")),
        "recursion limit",
    );
}

#[test]
fn i3_an_answer_without_a_readable_address_does_not_count() {
    refuse(r#"{"country":"DE"}"#, "sent no IP address");
    refuse(r#"{"ip":null}"#, "sent no IP address");
    refuse(r#"{"ip":16843009}"#, "sent no IP address");
    refuse(r#"{"ip":["1.1.1.1"]}"#, "sent no IP address");
    refuse(
        r#"{"ip":"unknown"}"#,
        "sent `unknown`, which is no IP address",
    );
    refuse(r#"{"ip":"1.1.1.1:80"}"#, "no IP address");
    refuse(r#"{"ip":"1.1.1.1, 2.2.2.2"}"#, "no IP address");
    refuse("fl=1\nloc=DE\n", "sent no IP address");
    refuse("ip=\nloc=DE\n", "sent no IP address");
}

#[test]
fn i3_an_address_that_is_not_public_does_not_count() {
    for ip in [
        "10.0.0.1",
        "127.0.0.1",
        "203.0.113.1",
        "169.254.1.1",
        "0.0.0.0",
        "::",
        "::1",
        "fe80::1",
        "2001:db8::1",
        "fd00::1",
        "224.0.0.1",
        "255.255.255.255",
    ] {
        refuse(
            format!(r#"{{"ip":"{ip}"}}"#),
            &format!("sent {ip}, which is no public address"),
        );
        refuse(format!("ip={ip}\nloc=DE\n"), "no public address");
    }
}

#[test]
fn i3_a_private_service_may_tell_any_address_of_one_host() {
    let read = |ip: &str| {
        let body = format!(r#"{{"ip":"{ip}"}}"#);
        read_answer("http://127.0.0.1:80/ip", 200, body.as_bytes(), true).map(|info| info.ip)
    };
    for ip in [
        "10.0.0.1",
        "127.0.0.1",
        "203.0.113.1",
        "fe80::1",
        "::1",
        "8.8.8.8",
    ] {
        assert_eq!(read(ip).as_deref(), Ok(ip));
    }
    for ip in ["224.0.0.1", "255.255.255.255", "ff02::1"] {
        assert!(read(ip).is_err(), "{ip} is not one host");
    }
}

#[test]
fn i3_a_mapped_address_is_ipv4() {
    check(r#"{"ip":"::ffff:8.8.8.8"}"#, "8.8.8.8 | - | - | - | - | -");
    refuse(r#"{"ip":"::ffff:10.0.0.1"}"#, "sent 10.0.0.1");
}

#[test]
fn i3_the_address_is_told_in_its_canonical_form() {
    check(
        r#"{"ip":" 2A00:1450:0:0:0:0:0:1 "}"#,
        "2a00:1450::1 | - | - | - | - | -",
    );
}

#[test]
fn i3_no_cut_or_broken_byte_of_a_real_answer_panics() {
    let body: &[u8] = br#"{"ip":"8.8.8.8","country":"US","org":"AS15169 Google LLC","asn":"AS1"}"#;
    for end in 0..body.len() {
        let _any = read_answer(URL, 200, &body[..end], false);
        for byte in [0, b'"', b'{', 0x1b, 0xff] {
            let mut broken: Vec<u8> = body.to_owned();
            broken[end] = byte;
            let _any = read_answer(URL, 200, &broken, false);
        }
    }
}
