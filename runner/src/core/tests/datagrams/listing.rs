//! Which outbounds say that they carry datagrams.

use serde_json::{Value, json};

use super::super::core;
use crate::proxy_core::{Network, ProxyCore};

#[test]
fn udp_is_listed_where_the_whole_way_carries_it() {
    let server = |type_name: &str, tag: &str, more: Value| {
        let mut outbound = json!({ "type": type_name, "tag": tag, "server": "192.0.2.1", "server_port": 1,
                "method": "none", "password": "x", "uuid": "x" });
        for (field, value) in more.as_object().unwrap() {
            outbound[field] = value.clone();
        }
        let fields = outbound.as_object_mut().unwrap();
        for (field, of) in [
            ("method", &["shadowsocks"][..]),
            ("password", &["shadowsocks", "trojan"]),
            ("uuid", &["vless"]),
        ] {
            if !of.contains(&type_name) {
                fields.remove(field);
            }
        }
        outbound
    };
    let core = core(json!([
        { "type": "direct", "tag": "direct" },
        { "type": "block", "tag": "block" },
        server("socks", "socks", json!({})),
        server("socks", "socks 4a", json!({ "version": "4a" })),
        server("http", "http", json!({})),
        server("shadowsocks", "streams", json!({ "network": "tcp" })),
        server("vless", "vless", json!({ "network": ["tcp", "udp"] })),
        server("vless", "xudp", json!({ "packet_encoding": "xudp" })),
        server("vless", "plain", json!({ "packet_encoding": "" })),
        server("vless", "other", json!({ "packet_encoding": "packetaddr" })),
        server("trojan", "in a stream", json!({ "detour": "http" })),
        server("shadowsocks", "in packets", json!({ "detour": "http" })),
        server("shadowsocks", "by group", json!({ "detour": "outer" })),
        server("socks", "by streams", json!({ "detour": "none" })),
        { "type": "selector", "tag": "outer", "outbounds": ["none", "inner"] },
        { "type": "selector", "tag": "inner", "outbounds": ["http", "trojan"] },
        server("trojan", "trojan", json!({})),
        { "type": "selector", "tag": "none", "outbounds": ["http", "in packets"] },
    ]));
    let list = core.list().into_iter();
    let udp = list.filter(|outbound| outbound.networks.contains(&Network::Udp));
    let expected = [
        "direct",
        "socks",
        "vless",
        "xudp",
        "plain",
        "in a stream",
        "by group",
        "outer",
        "inner",
        "trojan",
    ];
    assert_eq!(
        udp.map(|outbound| outbound.tag).collect::<Vec<_>>(),
        expected
    );
}
