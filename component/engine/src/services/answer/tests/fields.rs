//! What is read from an answer (I-2, I-4, I-5).
//! These tests must not know how the reader is built.

use super::*;

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
