//! What becomes of a user's config.

use serde_json::{Value, json};

use super::{Keys, Written};
use crate::proxy_core::Network;
use crate::sing_box::outbounds::Outbounds;
use crate::sing_box::selections::Selections;
use crate::sing_box::testing::config;

fn keys() -> Keys {
    Keys {
        password: "word".to_owned(),
        api_secret: Some("sesame".to_owned()),
    }
}

/// A config with a little of everything that is, and is not, for the child.
fn everything() -> Value {
    json!({
        "log": { "level": "trace", "output": "box.log" },
        "dns": {
            "servers": [{ "type": "local", "tag": "here" }],
            "rules": [
                { "rule_set": "geosite-cn", "server": "here" },
                { "domain": ["a.test"], "server": "here" },
                { "type": "logical", "rules": [{ "rule_set": ["x"] }], "server": "here" },
            ],
        },
        "certificate": { "store": "mozilla" },
        "inbounds": [{ "type": "tun" }],
        "outbounds": [
            { "type": "balancer", "tag": "choice", "outbounds": ["ß/1", "near"], "ttl": "1m" },
            { "type": "vless", "tag": "ß/1", "server": "a.test", "server_port": 1, "uuid": "u" },
            { "type": "dns", "tag": "old" },
            { "type": "socks", "tag": "far", "detour": "choice", "bind_interface": null },
            { "type": "block" },
            { "type": "direct", "tag": "near" },
        ],
        "endpoints": [{ "type": "wireguard", "tag": "wg", "private_key": "k" }],
        "route": {
            "default_domain_resolver": "here", "auto_detect_interface": true,
            "rules": [{ "outbound": "far" }], "final": "far", "rule_set": [],
        },
        "services": [],
        "experimental": { "cache_file": { "enabled": true }, "clash_api": { "secret": "mine" } },
    })
}

fn written(outbounds: &Outbounds) -> Value {
    let written = Written::new(outbounds, &Selections::default(), &keys());
    serde_json::from_str(&written.text).unwrap()
}

#[test]
fn the_child_gets_outbounds_dns_and_certificates_and_one_way_in() {
    let written = written(&Outbounds::new(&config(&everything())));
    let user = |name: &str| json!({ "username": name, "password": "word" });
    let users = ["1", "3", "4", "5", "6"].map(user);
    let rule =
        |name: &str, tag: &str| json!({ "auth_user": [name], "action": "route", "outbound": tag });
    let expected = json!({
        "log": { "level": "info", "timestamp": false },
        "inbounds": [{
            "type": "socks", "tag": "outwatch", "listen": "127.0.0.1", "listen_port": 0,
            "users": users,
        }],
        "outbounds": [
            {
                "type": "selector", "tag": "choice", "outbounds": ["ß/1", "near"],
                "default": "ß/1",
            },
            { "type": "vless", "tag": "ß/1", "server": "a.test", "server_port": 1, "uuid": "u" },
            { "type": "socks", "tag": "far", "detour": "choice" },
            { "type": "block", "tag": "4" },
            { "type": "direct", "tag": "near" },
        ],
        "endpoints": [{ "type": "wireguard", "tag": "wg", "private_key": "k" }],
        "route": {
            "auto_detect_interface": true,
            "default_domain_resolver": "here",
            "rules": [
                rule("1", "ß/1"), rule("3", "far"), rule("4", "4"), rule("5", "near"),
                rule("6", "wg"), { "action": "reject" },
            ],
        },
        "certificate": { "store": "mozilla" },
        "dns": {
            "servers": [{ "type": "local", "tag": "here" }],
            "rules": [{ "domain": ["a.test"], "server": "here" }],
        },
        "experimental": {
            "clash_api": { "external_controller": "127.0.0.1:0", "secret": "sesame" },
        },
    });
    assert_eq!(written, expected);
}

#[test]
fn what_is_left_out_is_not_in_the_child_s_config() {
    let mut outbounds = Outbounds::new(&config(&everything()));
    outbounds.leave_out(1, "no such type".to_owned());
    outbounds.leave_out(6, "not in this build".to_owned());
    let written = written(&outbounds);
    let tags: Vec<_> = written["outbounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| &o["tag"])
        .collect();
    assert_eq!(tags, ["choice", "far", "4", "near"]);
    assert_eq!(written["outbounds"][0]["outbounds"], json!(["near"]));
    assert_eq!(written["endpoints"], json!([]));
    let users = written["inbounds"][0]["users"].as_array().unwrap();
    assert_eq!(users.len(), 3);
}

#[test]
fn f4_places_in_the_child_s_config_are_told_as_places_in_the_user_s() {
    let mut outbounds = Outbounds::new(&config(&everything()));
    outbounds.leave_out(1, "no such type".to_owned());
    let written = Written::new(&outbounds, &Selections::default(), &keys());
    let place = |path| written.in_file(path, &outbounds.entries);
    assert_eq!(
        place("outbounds[1].server"),
        (Some(3), "outbounds[3].server".to_owned())
    );
    assert_eq!(place("outbounds[2]"), (Some(4), "outbounds[4]".to_owned()));
    assert_eq!(
        place("endpoints[0].peers[1]"),
        (Some(6), "endpoints[0].peers[1]".to_owned())
    );
    assert_eq!(place("dns.rules[0].x"), (None, "dns.rules[1].x".to_owned()));
    assert_eq!(place("dns.servers[0]"), (None, "dns.servers[0]".to_owned()));
    assert_eq!(place("outbounds[99]"), (None, "outbounds[99]".to_owned()));
}

#[test]
fn g1_a_group_starts_where_it_was_told_to_lead() {
    let outbounds = Outbounds::new(&config(&everything()));
    let selections = Selections::default();
    selections.set("choice", Network::Tcp, "near");
    let written = Written::new(&outbounds, &selections, &keys());
    let written: Value = serde_json::from_str(&written.text).unwrap();
    assert_eq!(written["outbounds"][0]["default"], "near");
}
