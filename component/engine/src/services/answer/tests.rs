//! What counts as an answer of an IP information service, and what is read from
//! it. These tests must not know how the reader is built.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::*;

const URL: &str = "https://ipapi.co/json/";

/// One line for all that was found.
fn told(info: &IpInfo) -> String {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or("-".to_owned());
    let asn = info.asn.map_or("-".to_owned(), |asn| format!("{asn}"));
    let [country, region] = [&info.country_code, &info.region].map(or_dash);
    let [city, org] = [&info.city, &info.org].map(or_dash);
    format!(
        "{} | {country} | {region} | {city} | {asn} | {org}",
        info.ip
    )
}

#[track_caller]
fn check(body: &str, expected: &str) {
    match read_answer(URL, 200, body.as_bytes(), false) {
        Ok(info) => assert_eq!(told(&info), expected, "from {body}"),
        Err(failure) => panic!("{} from {body}", failure.text),
    }
}

/// The answer does not count, and the text contains `why`.
#[track_caller]
fn refuse(body: impl AsRef<[u8]>, why: &str) {
    let body = body.as_ref();
    let shown = String::from_utf8_lossy(body);
    match read_answer(URL, 200, body, false) {
        Ok(info) => panic!("{info:?} from {shown}"),
        Err(Failure { kind, text }) => {
            assert_eq!(kind, ErrorKind::HttpMalformed, "from {shown}");
            assert!(text.starts_with("ipapi.co "), "{text:?} names the service");
            assert!(text.contains(why), "{text:?} says {why:?}");
            assert!(
                text.chars().count() <= 256 && !text.contains(char::is_control),
                "{text:?}"
            );
        }
    }
}

#[test]
fn i2_each_service_is_read_where_it_keeps_things() {
    let ipapi_co = r#"{"ip":"8.8.8.8","version":"IPv4","city":"Mountain View","region":"California",
        "region_code":"CA","country":"US","country_code":"US","asn":"AS15169","org":"GOOGLE"}"#;
    check(
        ipapi_co,
        "8.8.8.8 | US | California | Mountain View | 15169 | GOOGLE",
    );

    let ip_api_com = r#"{"status":"success","country":"Canada","countryCode":"CA","region":"QC",
        "regionName":"Quebec","city":"Montreal","isp":"Le Groupe Videotron Ltee",
        "org":"Videotron Ltee","as":"AS5769 Videotron Ltee","query":"24.48.0.1"}"#;
    check(
        ip_api_com,
        "24.48.0.1 | CA | Quebec | Montreal | 5769 | Videotron Ltee",
    );

    let ipinfo_io = r#"{"ip":"8.8.4.4","hostname":"dns.google","city":"Mountain View",
        "region":"California","country":"US","loc":"38.00,-122.07","org":"AS15169 Google LLC",
        "readme":"https://ipinfo.io/missingauth"}"#;
    check(
        ipinfo_io,
        "8.8.4.4 | US | California | Mountain View | 15169 | Google LLC",
    );

    let api_ip_sb = r#"{"organization":"Cloudflare","longitude":143.21,"city":"Sydney",
        "region":"New South Wales","isp":"Cloudflare","asn":13335,"ip":"1.1.1.1",
        "asn_organization":"CLOUDFLARENET","country":"Australia","country_code":"AU"}"#;
    check(
        api_ip_sb,
        "1.1.1.1 | AU | New South Wales | Sydney | 13335 | CLOUDFLARENET",
    );

    let ipwho_is = r#"{"ip":"2001:4860:4860::8888","success":true,"type":"IPv6","country":"Germany",
        "country_code":"DE","region":"Hesse","city":"Frankfurt",
        "connection":{"asn":15169,"org":"Google LLC","isp":"Google","domain":"google.com"}}"#;
    check(
        ipwho_is,
        "2001:4860:4860::8888 | DE | Hesse | Frankfurt | 15169 | Google LLC",
    );

    check(
        r#"{"ip":"9.9.9.9","country":"CH"}"#,
        "9.9.9.9 | CH | - | - | - | -",
    );

    let api_my_ip_io = r#"{"success":true,"ip":"5.9.9.9","type":"IPv4",
        "country":{"code":"FI","name":"Finland"},"region":"Uusimaa","city":"Helsinki",
        "asn":{"number":24940,"name":"Hetzner Online GmbH","network":"5.9.0.0/16"}}"#;
    check(
        api_my_ip_io,
        "5.9.9.9 | FI | Uusimaa | Helsinki | 24940 | Hetzner Online GmbH",
    );

    let cloudflare = "fl=29f1\nh=cloudflare.com\nip=2a01:4f8::7\nts=1.5\nvisit_scheme=https\n\
        uag=Outwatch/0.1.0\ncolo=FRA\nloc=DE\ntls=TLSv1.3\nwarp=off\n";
    check(cloudflare, "2a01:4f8::7 | DE | - | - | - | -");
}

#[test]
fn i2_the_organisation_is_taken_from_the_next_place_when_the_first_is_empty() {
    let ip = r#""ip":"1.1.1.1""#;
    check(
        &format!(r#"{{{ip},"org":"","isp":"B"}}"#),
        "1.1.1.1 | - | - | - | - | B",
    );
    check(
        &format!(r#"{{{ip},"asn_organization":null,"isp":"B"}}"#),
        "1.1.1.1 | - | - | - | - | B",
    );
    check(
        &format!(r#"{{{ip},"connection":{{"asn":7,"org":" ","isp":"B"}}}}"#),
        "1.1.1.1 | - | - | - | 7 | B",
    );
    check(
        &format!(r#"{{{ip},"as":"AS7 Only Here"}}"#),
        "1.1.1.1 | - | - | - | 7 | Only Here",
    );
    check(
        &format!(r#"{{{ip},"org":"AS7"}}"#),
        "1.1.1.1 | - | - | - | 7 | -",
    );
    check(
        &format!(r#"{{{ip},"asn":"AS7","org":"AS24 Ltd"}}"#),
        "1.1.1.1 | - | - | - | 7 | AS24 Ltd",
    );
}

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
fn i4_a_country_is_two_letters_or_unknown() {
    let read = |country: &str| {
        let body = format!(r#"{{"ip":"1.1.1.1","country":{country}}}"#);
        let answer = read_answer(URL, 200, body.as_bytes(), false);
        answer.expect("counts").country_code
    };
    for (given, code) in [(r#""DE""#, "DE"), (r#""de""#, "DE"), (r#"" nL ""#, "NL")] {
        assert_eq!(read(given).as_deref(), Some(code), "{given}");
    }
    for given in [
        r#""XX""#,
        r#""ZZ""#,
        r#""xx""#,
        r#""T1""#,
        r#""""#,
        r#""None""#,
        r#""DEU""#,
        r#""D""#,
        r#""ÄÖ""#,
        r#""é""#,
        "49",
        "null",
        "{}",
        "[\"DE\"]",
    ] {
        assert_eq!(read(given), None, "{given}");
    }
    check("ip=1.1.1.1\nloc=T1\n", "1.1.1.1 | - | - | - | - | -");
    check("ip=1.1.1.1\r\nloc=xx\r\n", "1.1.1.1 | - | - | - | - | -");
}

#[test]
fn i4_a_network_number_is_read_from_every_form() {
    let read = |asn: &str| {
        let body = format!(r#"{{"ip":"1.1.1.1","asn":{asn}}}"#);
        read_answer(URL, 200, body.as_bytes(), false)
            .expect("counts")
            .asn
    };
    for given in [
        "13335",
        r#""13335""#,
        r#""AS13335""#,
        r#""AS13335 Name""#,
        r#"" as13335 ""#,
    ] {
        assert_eq!(read(given), Some(13335), "{given}");
    }
    assert_eq!(read("4294967295"), Some(u32::MAX));
    for given in [
        "0",
        "-1",
        "1.5",
        "4294967296",
        "1e99",
        r#""""#,
        r#""AS""#,
        r#""ASx""#,
        r#""13335x""#,
        r#""+13335""#,
        r#""AS+1""#,
        r#""AS4294967296""#,
        "null",
        "true",
        "[]",
        "{}",
        r#""é1""#,
    ] {
        assert_eq!(read(given), None, "{given}");
    }
}

#[test]
fn i4_a_field_of_a_wrong_type_is_absent() {
    let body = r#"{"ip":"1.1.1.1","country_code":1,"region":["x"],"city":{"a":1},"asn":true,
        "org":7,"connection":"x"}"#;
    check(body, "1.1.1.1 | - | - | - | - | -");
    check(
        r#"{"ip":7,"query":"1.1.1.1"}"#,
        "1.1.1.1 | - | - | - | - | -",
    );
}

#[test]
fn i4_texts_are_trimmed_capped_and_stripped_of_what_a_terminal_obeys() {
    let body = r#"{"ip":"1.1.1.1","city":"  \u001b[31mParis\u001b[0m\u0007 ","org":"\u0000"}"#;
    check(body, "1.1.1.1 | - | - | Paris | - | -");
    let long = format!(r#"{{"ip":"1.1.1.1","region":"{}"}}"#, "é".repeat(1000));
    check(
        &long,
        &format!("1.1.1.1 | - | {} | - | - | -", "é".repeat(128)),
    );
}

#[test]
fn i4_a_name_in_another_encoding_does_not_cost_the_address() {
    let body = b"{\"ip\":\"1.1.1.1\",\"city\":\"S\xe3o Paulo\"}";
    let info = read_answer(URL, 200, body, false).expect("counts");
    assert_eq!(info.city.as_deref(), Some("S\u{fffd}o Paulo"));
}

#[test]
fn i5_the_answer_says_who_told_it_and_whether_over_tls() {
    let read = |url: &str| {
        let info = read_answer(url, 200, br#"{"ip":"1.1.1.1"}"#, false).expect("counts");
        (info.service, info.tls)
    };
    let expected = |service: &str, tls: bool| (service.to_owned(), tls);
    assert_eq!(read("https://ipinfo.io/json"), expected("ipinfo.io", true));
    assert_eq!(
        read("http://ip-api.com/json/"),
        expected("ip-api.com", false)
    );
    assert_eq!(
        read("HTTPS://me:secret@ip.example:8443/?k=v"),
        expected("ip.example", true)
    );
    assert_eq!(read("http://[::1]:8080/"), expected("::1", false));
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
