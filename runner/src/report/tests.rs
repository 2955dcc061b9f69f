//! The JSON of a report, field by field.

use super::*;

fn report() -> Report {
    Report {
        tag: "de 🇩🇪".into(),
        kind: Kind::Endpoint,
        type_name: "wireguard".into(),
        state: State::Failed,
        testing: true,
        delay_ms: None,
        delay_source: None,
        warm: false,
        url: Some("https://one.test/generate_204".into()),
        tested_at: Timestamp::from_millisecond(1_800_000_000_500).ok(),
        last_ok_at: None,
        age_ms: Some(1_500),
        from_cache: false,
        miss: true,
        error: Some(Failure {
            kind: ErrorKind::DialRefused,
            text: "connection refused".into(),
        }),
        ip: Some(IpInfo {
            ip: "2001:4860::8".into(),
            country_code: Some("DE".into()),
            region: None,
            city: None,
            asn: Some(15_169),
            org: Some("Example".into()),
            service: "ipwho.is".into(),
            tls: true,
        }),
        ip_from_cache: true,
        ip_pending: false,
        ipv6: Ipv6::Yes,
        ipv6_source: Some(Ipv6Source::Declared),
        status_text: None,
        reason: Some(Reason::ConnectionFailed),
        attempts: 2,
        via: None,
        stats: Stats {
            count: 3,
            failed: 1,
            mean_ms: Some(80),
            jitter_ms: None,
        },
        revision: 7,
        extra: Vec::new(),
    }
}

#[test]
fn r8_the_json_of_a_report_has_every_field_under_its_name() {
    let expected = serde_json::json!({
        "tag": "de 🇩🇪",
        "kind": "endpoint",
        "type": "wireguard",
        "state": "failed",
        "testing": true,
        "delay_ms": null,
        "delay_source": null,
        "warm": false,
        "url": "https://one.test/generate_204",
        "tested_at": "2027-01-15T08:00:00.5Z",
        "last_ok_at": null,
        "age_ms": 1500,
        "from_cache": false,
        "miss": true,
        "error": { "kind": "dial_refused", "text": "connection refused" },
        "ip": {
            "ip": "2001:4860::8",
            "country_code": "DE",
            "region": null,
            "city": null,
            "asn": 15169,
            "org": "Example",
            "service": "ipwho.is",
            "tls": true
        },
        "ip_from_cache": true,
        "ip_pending": false,
        "ipv6": "yes",
        "ipv6_source": "declared",
        "status_text": null,
        "reason": "connection-failed",
        "attempts": 2,
        "via": null,
        "stats": { "count": 3, "failed": 1, "mean_ms": 80, "jitter_ms": null },
        "revision": 7
    });
    assert_eq!(serde_json::to_value(report()).unwrap(), expected);
}

#[test]
fn r8_what_a_later_engine_knows_besides_stands_in_the_json_as_it_said_it() {
    let report = Report {
        extra: vec![("loss".into(), "0.25".into())],
        ..report()
    };
    let json = serde_json::to_value(report).unwrap();
    assert_eq!(json["extra"], serde_json::json!({ "loss": "0.25" }));
}
