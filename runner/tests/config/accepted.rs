//! What is fine: every tolerance, real configs whose other sections are left alone,
//! and the values that come out.

use std::path::PathBuf;

use outwatch::Kind;
use outwatch::config::{CacheFile, Config, Log};

use crate::{accept, tags};

#[test]
fn f4_comments_trailing_commas_a_byte_order_mark_and_crlf_are_fine() {
    let config = accept(
        "\u{FEFF}// first\r\n{\r\n  /* a\r\n block */ \"outbounds\": [\r\n    { \"type\": \"http\", \"tag\": \"http://x/*y*/\", }, // last,\r\n  ],\r\n}\r\n// end",
    );
    assert_eq!(
        tags(&config),
        ["http://x/*y*/"],
        "`//` inside a string survives"
    );
}

#[test]
fn f4_escapes_are_read() {
    let config = accept(
        r#"{ "outbounds": [{ "type": "direct", "tag": "\ud83c\udde9\ud83c\uddea \"\\\/\u00e9" }] }"#,
    );
    assert_eq!(tags(&config), ["🇩🇪 \"\\/é"]);
}

#[test]
fn f1_the_monitoring_block_is_passed_on_as_it_is() {
    let monitoring = |block: &str| -> String {
        accept(&format!(
            r#"{{ "outbounds": [{{ "type": "direct" }}], "experimental": {{ {block} }} }}"#
        ))
        .monitoring
    };
    assert_eq!(monitoring(""), "{}");
    assert_eq!(monitoring(r#""monitoring": null"#), "{}");
    assert_eq!(
        monitoring(
            "\"monitoring\": { \"workers\": -1, /* not for us to judge */ \"new in 2030\": [1.50, \"é\",], }"
        ),
        r#"{"workers":-1,"new in 2030":[1.5,"é"]}"#
    );
    assert_eq!(monitoring(r#""monitoring": "odd""#), r#""odd""#);
}

#[test]
fn f4_other_sections_are_left_alone() {
    let config = accept(
        r#"{
          "$schema": "https://example.com/s.json", "dns": { "servers": [{ "type": "local" }] }, "ntp": { "enabled": true },
          "inbounds": [{ "type": "tun" }], "route": { "rules": [], "final": "x" }, "services": [], "http_clients": [],
          "certificate": { "store": "mozilla" }, "outbounds": [{ "type": "direct" }],
          "experimental": { "clash_api": { "external_controller": "127.0.0.1:9090" }, "v2ray_api": {}, "debug": {} }
        }"#,
    );
    assert_eq!(config.certificate.unwrap().get("store").unwrap(), "mozilla");
}

#[test]
fn f4_the_log_and_the_cache_file_are_read() {
    let config = accept(
        r#"{ "outbounds": [{ "type": "direct" }],
             "log": { "disabled": true, "level": "warn", "output": "box.log", "timestamp": true },
             "experimental": { "cache_file": { "enabled": true, "path": "cache.db", "cache_id": "x", "store_rdrc": true } } }"#,
    );
    let log = Log {
        disabled: true,
        level: Some("warn".to_owned()),
        output: Some(PathBuf::from("box.log")),
        timestamp: Some(true),
    };
    assert_eq!(config.log, log);
    assert_eq!(
        config.cache_file,
        CacheFile {
            enabled: true,
            path: Some(PathBuf::from("cache.db"))
        }
    );
}

#[test]
fn f4_absent_sections_mean_defaults() {
    let config =
        accept(r#"{ "outbounds": [{ "type": "direct" }], "log": null, "experimental": {} }"#);
    assert_eq!(config.log, Log::default());
    assert_eq!(config.cache_file, CacheFile::default());
}

#[test]
fn t1_an_entry_is_an_outbound_an_endpoint_a_group_or_untestable() {
    let config = accept(
        r#"{ "outbounds": [
            { "type": "direct", "tag": "a" }, { "type": "block" }, { "type": "dns" }, { "type": "brand-new" },
            { "type": "selector", "outbounds": ["a"] }, { "type": "urltest", "outbounds": ["a"] },
            { "type": "balancer", "outbounds": ["a"] }, { "type": "loadbalance", "outbounds": ["a"] },
            { "type": "direct", "outbounds": ["a"] } ],
          "endpoints": [{ "type": "wireguard" }] }"#,
    );
    let kinds: Vec<_> = config.entries.iter().map(|entry| entry.kind).collect();
    use Kind::*;
    assert_eq!(
        kinds,
        [
            Outbound, Untestable, Untestable, Outbound, Group, Group, Group, Group, Outbound,
            Endpoint
        ]
    );
}

#[test]
fn f5_entries_keep_order_place_and_options() {
    let config = accept(
        r#"{ "endpoints": [{ "type": "wireguard", "tag": "wg", "detour": "b" }],
             "outbounds": [{ "type": "socks", "tag": "b", "server": "192.0.2.1", "server_port": 1080 }, { "type": "direct", "tag": "a" }] }"#,
    );
    assert_eq!(tags(&config), ["b", "a", "wg"]);
    let [b, _, wg] = &config.entries[..] else {
        panic!("three entries")
    };
    assert_eq!(
        (b.path.as_str(), wg.path.as_str()),
        ("outbounds[0]", "endpoints[0]")
    );
    assert_eq!(b.options["server_port"], 1080);
    assert_eq!(wg.detour.as_deref(), Some("b"));
}

/// The fingerprint of the only outbound of a config.
fn fingerprint(outbound: &str) -> String {
    let Config { mut entries, .. } = accept(&format!(
        r#"{{ "outbounds": [{outbound}, {{ "type": "direct", "tag": "d" }}] }}"#
    ));
    entries.remove(0).fingerprint
}

#[test]
fn p2_a_fingerprint_stands_for_the_server_and_nothing_else() {
    let one = fingerprint(
        r#"{ "type": "vless", "tag": "a", "server": "192.0.2.1", "server_port": 443, "uuid": "u",
             "tls": { "enabled": true, "server_name": "s" }, "transport": { "type": "ws", "path": "/p" } }"#,
    );
    let same = fingerprint(
        r#"{ "transport": { "path": "/p", "type": "ws" }, "tls": { "server_name": "s", "enabled": true, "alpn": ["h2"] },
             "uuid": "u", "server_port": 443, "server": "192.0.2.1", "tag": "b", "type": "vless", "detour": "d",
             "connect_timeout": "3s", "tcp_fast_open": true, "multiplex": { "enabled": true }, "flow": null }"#,
    );
    assert_eq!(one, same);
    assert!(
        one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{one}"
    );
}

#[test]
fn p2_every_part_of_a_servers_identity_counts() {
    let mut seen = std::collections::BTreeSet::new();
    for outbound in [
        r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 1 }"#,
        r#"{ "type": "http", "server": "192.0.2.1", "server_port": 1 }"#,
        r#"{ "type": "socks", "server": "192.0.2.2", "server_port": 1 }"#,
        r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 2 }"#,
        r#"{ "type": "socks", "server": "192.0.2.1", "server_ports": ["1:9"] }"#,
        r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 1, "username": "u" }"#,
        r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 1, "password": "u" }"#,
        r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 1, "private_key": "u" }"#,
        r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 1, "tls": { "server_name": "u" } }"#,
        r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 1, "tls": { "reality": { "short_id": "u" } } }"#,
        r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 1, "transport": { "headers": { "Host": "u" } } }"#,
        r#"{ "type": "shadowsocks", "server": "192.0.2.1", "server_port": 1, "method": "aes-128-gcm", "password": "u" }"#,
        r#"{ "type": "shadowsocks", "server": "192.0.2.1", "server_port": 1, "method": "aes-256-gcm", "password": "u" }"#,
        r#"{ "type": "shadowsocks", "server": "192.0.2.1", "server_port": 1, "method": "aes-256-gcm", "password": "v" }"#,
        r#"{ "type": "trojan", "server": "192.0.2.1", "server_port": 1, "password": "u" }"#,
        r#"{ "type": "trojan", "server": "192.0.2.1", "server_port": 1, "password": "v" }"#,
        r#"{ "type": "vless", "server": "192.0.2.1", "server_port": 1, "uuid": "u" }"#,
        r#"{ "type": "vless", "server": "192.0.2.1", "server_port": 1, "uuid": "v" }"#,
        r#"{ "type": "vless", "server": "192.0.2.1", "server_port": 1, "uuid": "u", "tls": { "server_name": "w" } }"#,
        r#"{ "type": "vless", "server": "192.0.2.1", "server_port": 1, "uuid": "u", "transport": { "type": "ws" } }"#,
        r#"{ "type": "vless", "server": "192.0.2.1", "server_port": 1, "uuid": "u", "transport": { "type": "ws", "path": "/a" } }"#,
        r#"{ "type": "vless", "server": "192.0.2.1", "server_port": 1, "uuid": "u", "transport": { "type": "httpupgrade", "path": "/a" } }"#,
        r#"{ "type": "vless", "server": "192.0.2.1", "server_port": 1, "uuid": "u", "transport": { "type": "httpupgrade", "path": "/a", "host": "u" } }"#,
    ] {
        assert!(
            seen.insert(fingerprint(outbound)),
            "the same as another: {outbound}"
        );
    }
}

#[test]
fn p2_a_group_has_no_fingerprint() {
    assert_eq!(
        fingerprint(r#"{ "type": "selector", "outbounds": ["d"] }"#),
        ""
    );
}

#[test]
fn p2_fingerprints_stay_what_they_are() {
    // Changing how they are made throws away everybody's saved results.
    let one = fingerprint(r#"{ "type": "socks", "server": "192.0.2.1", "server_port": 1080 }"#);
    insta::assert_snapshot!(one, @r#"739a4d4f83f47955531048f62d67e1c3"#);
}
