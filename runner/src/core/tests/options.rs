//! What is wrong with options, and what is right but beyond this core.

use serde_json::{Value, json};

use super::{entry, errors, read};
use crate::NativeCore;
use crate::proxy_core::{Kind, ProxyCore, Readiness};
use crate::report::Severity;

/// The only error of one outbound, which is then not ready.
fn error(outbound: &Value) -> String {
    let (core, problems) = read(json!([outbound]));
    let errors = errors(&problems);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(matches!(core.status("0"), Readiness::Unsupported(_)));
    errors.into_iter().next().unwrap()
}

/// Why an outbound that is written right cannot be dialed.
fn unsupported(outbound: &Value) -> String {
    let (core, problems) = read(json!([outbound]));
    assert_eq!(errors(&problems), Vec::<String>::new());
    match core.status("0") {
        Readiness::Unsupported(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn f4_a_wrong_value_is_an_error_with_its_path_the_value_and_what_is_accepted() {
    for (outbound, expected) in [
        (
            json!({ "type": "socks", "server": "a", "server_port": 70000 }),
            "outbounds[0].server_port: 70000 is no port; expected 1 to 65535",
        ),
        (
            json!({ "type": "socks", "server": "a b", "server_port": 1 }),
            "outbounds[0].server: `a b` is no host; expected a name or an IP address",
        ),
        (
            json!({ "type": "http", "server": "a" }),
            "outbounds[0]: missing field `server_port`",
        ),
        (
            json!({ "type": "socks", "server": "a", "server_port": 1, "version": "6" }),
            "outbounds[0].version: unknown variant `6`, expected one of `4`, `4a`, `5`",
        ),
        (
            json!({ "type": "direct", "connect_timeout": "soon" }),
            "outbounds[0].connect_timeout: `soon` is no duration; expected one above zero, such \
             as `500ms`, `5s` or `1m30s`",
        ),
        (
            json!({ "type": "http", "server": "a", "server_port": 1,
                "tls": { "enabled": true, "alpn": ["h2", 3] } }),
            "outbounds[0].tls.alpn[1]: invalid type: integer `3`, expected a string",
        ),
        (
            json!({ "type": "http", "server": "a", "server_port": 1,
                "tls": { "enabled": true, "certificate": "x" } }),
            "outbounds[0].tls.certificate: holds no PEM certificate (-----BEGIN CERTIFICATE-----)",
        ),
        (
            json!({ "type": "http", "server": "a", "server_port": 1, "path": "x" }),
            "outbounds[0].path: `x` is no path; expected one such as `/proxy`",
        ),
        (
            json!({ "type": "http", "server": "a", "server_port": 1, "headers": { "a": "\n" } }),
            "outbounds[0].headers.a: not a header that HTTP can send",
        ),
    ] {
        assert_eq!(error(&outbound), expected);
    }
}

#[test]
fn f4_unknown_fields_are_warnings_and_stop_nothing() {
    let (core, problems) = read(json!([
        { "type": "direct", "colour": "blue" },
        { "type": "http", "server": "a", "server_port": 1, "tls": { "enabled": true, "x": 1 } },
        { "type": "socks", "server": "a", "server_port": 1, "url": "http://a/" },
    ]));
    let paths: Vec<_> = problems
        .iter()
        .map(|problem| problem.path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "outbounds[0].colour",
            "outbounds[1].tls.x",
            "outbounds[2].url"
        ]
    );
    assert!(
        problems
            .iter()
            .all(|problem| problem.severity == Severity::Warning)
    );
    assert!(
        core.list()
            .iter()
            .all(|outbound| core.status(&outbound.tag) == Readiness::Ready)
    );
}

#[test]
fn dial_fields_of_a_real_config_are_known() {
    let (core, problems) = read(json!([
        { "type": "direct", "tcp_fast_open": true, "tcp_multi_path": false, "udp_fragment": true,
            "reuse_addr": true, "domain_resolver": "local", "network_strategy": "default", "fallback_delay": "300ms",
            "connect_timeout": "5s", "domain_strategy": "prefer_ipv4" },
        { "type": "socks", "server": "[::1]", "server_port": 1, "udp_over_tcp": true,
            "network": ["tcp", "udp"], "routing_mark": 1, "detour": "0" },
        { "type": "urltest", "outbounds": ["0"], "url": "http://a/", "interval": "3m",
            "tolerance": 50, "idle_timeout": "30m", "interrupt_exist_connections": false },
        { "type": "balancer", "outbounds": ["0"], "strategy": "round-robin", "ttl": "10m" },
    ]));
    assert_eq!(problems, []);
    assert!(
        core.list()
            .iter()
            .all(|outbound| core.status(&outbound.tag) == Readiness::Ready)
    );
}

#[test]
fn d6_what_this_core_cannot_do_is_unsupported_and_says_so() {
    let tls = |tls: Value| json!({ "type": "http", "server": "a", "server_port": 1, "tls": tls });
    for (outbound, says) in [
        (
            json!({ "type": "shadowsocks", "server": "a", "method": 5 }),
            "`shadowsocks`",
        ),
        (json!({ "type": "dns" }), "`dns`"),
        (
            json!({ "type": "direct", "routing_mark": 255 }),
            "`routing_mark`",
        ),
        (
            json!({ "type": "direct", "override_port": 53 }),
            "`override_port`",
        ),
        (
            json!({ "type": "socks", "server": "a", "server_port": 1, "network": "udp" }),
            "`network`",
        ),
        (
            json!({ "type": "socks", "server": "a", "server_port": 1, "username": "u" }),
            "`password`",
        ),
        (
            tls(json!({ "enabled": true, "utls": { "enabled": true } })),
            "`tls.utls`",
        ),
        (
            tls(json!({ "enabled": true, "reality": { "enabled": true } })),
            "`tls.reality`",
        ),
        (
            tls(json!({ "enabled": true, "ech": { "enabled": true } })),
            "`tls.ech`",
        ),
    ] {
        let text = unsupported(&outbound);
        assert!(text.contains(says), "`{text}` should name {says}");
    }
    let (core, problems) = read(json!([
        tls(json!({ "enabled": false, "utls": { "enabled": true } })),
        tls(json!({ "enabled": true, "utls": { "enabled": false, "fingerprint": "chrome" } })),
    ]));
    assert_eq!(problems, []);
    assert_eq!(
        (core.status("0"), core.status("1")),
        (Readiness::Ready, Readiness::Ready)
    );
}

#[test]
fn everything_is_listed_in_order_with_its_kind() {
    let (core, _) = read(json!([
        { "type": "direct", "tag": "a" },
        { "type": "vmess", "tag": "b", "detour": "a" },
        { "type": "block", "tag": "c" },
        { "type": "selector", "tag": "d", "outbounds": ["a", "b"] },
    ]));
    let list = core.list();
    let kinds: Vec<_> = list
        .iter()
        .map(|outbound| (outbound.tag.as_str(), outbound.kind))
        .collect();
    let expected = [
        ("a", Kind::Outbound),
        ("b", Kind::Outbound),
        ("c", Kind::Untestable),
        ("d", Kind::Group),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(list[1].detour.as_deref(), Some("a"));
    assert_eq!(list[3].members, ["a", "b"]);
    assert!(matches!(core.status("nobody"), Readiness::Unsupported(_)));
}

#[test]
fn the_top_level_certificate_is_read_and_its_faults_are_told() {
    let object = json!({ "store": "mozilla", "certificate": "x", "certificate_path": "/no/such",
        "certificate_directory_path": "/no/such/folder", "new_field": 1 });
    let (_, problems) = NativeCore::new(&[], object.as_object());
    let paths: Vec<_> = problems
        .iter()
        .map(|problem| problem.path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "certificate.certificate",
            "certificate.certificate_directory_path",
            "certificate.certificate_path",
            "certificate.new_field"
        ]
    );
}

#[test]
fn thousands_of_outbounds_are_built_at_once() {
    let outbound = |index: usize| {
        entry(
            index,
            json!({ "type": "http", "server": format!("{index}.test"), "server_port": 443,
            "tls": { "enabled": true, "server_name": "a.test", "alpn": ["http/1.1"] } }),
        )
    };
    let entries: Vec<_> = (0..20_000).map(outbound).collect();
    let start = std::time::Instant::now();
    let (core, problems) = NativeCore::new(&entries, None);
    assert_eq!((core.list().len(), problems.len()), (20_000, 0));
    // Parsing roots for each would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
