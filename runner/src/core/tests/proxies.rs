//! The options of shadowsocks, trojan and VLESS: what is wrong, what is beyond this
//! core, and what does no harm.

use serde_json::{Map, Value, json};

use super::{errors, read};
use crate::proxy_core::{ProxyCore, Readiness};

const UUID: &str = "00112233-4455-6677-8899-aabbccddeeff";
const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";

/// An outbound of this type that is right, with these fields besides.
fn outbound(type_name: &str, fields: Value) -> Value {
    let credential = match type_name {
        "shadowsocks" => json!({ "method": "2022-blake3-aes-128-gcm", "password": KEY }),
        "trojan" => json!({ "password": "secret" }),
        _ => json!({ "uuid": UUID }),
    };
    let mut all: Map<String, Value> = Map::new();
    let base = json!({ "type": type_name, "server": "a.test", "server_port": 443 });
    for part in [base, credential, fields] {
        all.extend(part.as_object().unwrap().clone());
    }
    Value::Object(all)
}

/// The only error of an outbound, which is then not ready.
fn error(outbound: &Value) -> String {
    let (core, problems) = read(json!([outbound]));
    let errors = errors(&problems);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(matches!(core.status("0"), Readiness::Unsupported(_)));
    errors.concat()
}

#[test]
fn f4_wrong_values_are_errors_that_show_no_secret() {
    let trojan = |transport: Value| outbound("trojan", json!({ "transport": transport }));
    let key = |method: &str, password: &str| {
        outbound(
            "shadowsocks",
            json!({ "method": method, "password": password }),
        )
    };
    for (outbound, expected) in [
        (
            outbound("trojan", json!({ "password": "" })),
            "password: missing: a trojan server knows its users by it",
        ),
        (
            outbound("vless", json!({ "uuid": "" })),
            "uuid: missing: a VLESS server knows its users by it",
        ),
        (
            outbound("vless", json!({ "server_port": 0 })),
            "server_port: 0 is no port; expected 1 to 65535",
        ),
        (
            key("", KEY),
            "method: missing; one is `2022-blake3-aes-128-gcm`",
        ),
        (
            key("aes-256-gcm", ""),
            "password: missing: the key of the method comes from it",
        ),
        (
            key("2022-blake3-aes-256-gcm", KEY),
            "password: `2022-blake3-aes-256-gcm` needs a key of 32 bytes (found 16)",
        ),
        (
            key("2022-blake3-aes-128-gcm", "secret!"),
            "password: `2022-blake3-aes-128-gcm` needs a key in base64, or several with `:` between",
        ),
        (
            key("2022-blake3-aes-128-gcm", &format!("secret!:{KEY}")),
            "password: `2022-blake3-aes-128-gcm` needs a key in base64, or several with `:` between",
        ),
        (
            trojan(json!({ "path": "/a" })),
            "transport.type: expected a name such as `ws`",
        ),
        (
            trojan(json!({ "type": "ws", "headers": { "a": "\n" } })),
            "transport.headers.a: not a header that HTTP can send",
        ),
        (
            trojan(json!({ "type": "ws", "max_early_data": -1 })),
            "transport.max_early_data: invalid value: integer `-1`, expected u32",
        ),
        (
            trojan(json!({ "type": "ws", "early_data_header_name": "a b" })),
            "transport.early_data_header_name: `a b` is no name of a header",
        ),
        (
            trojan(json!({ "type": "httpupgrade", "host": "\n" })),
            "transport.host: not a name that HTTP can ask for",
        ),
    ] {
        assert_eq!(error(&outbound), format!("outbounds[0].{expected}"));
    }
}

#[test]
fn f4_unknown_fields_of_a_transport_are_warnings() {
    let transport = json!({ "type": "ws", "paht": "/a" });
    let (core, problems) = read(json!([outbound(
        "vless",
        json!({ "transport": transport })
    )]));
    let paths: Vec<&str> = problems.iter().map(|problem| &*problem.path).collect();
    assert_eq!(paths, ["outbounds[0].transport.paht"]);
    assert_eq!(core.status("0"), Readiness::Ready);
}

#[test]
fn d6_what_the_server_needs_and_this_core_has_not_is_unsupported_and_says_so() {
    for (type_name, fields, says) in [
        (
            "vless",
            json!({ "flow": "xtls-rprx-vision" }),
            "`flow` `xtls-rprx-vision`",
        ),
        (
            "vless",
            json!({ "encryption": "mlkem768x25519plus" }),
            "`encryption`",
        ),
        (
            "vless",
            json!({ "transport": { "type": "grpc", "service_name": "x" } }),
            "`grpc`",
        ),
        (
            "trojan",
            json!({ "transport": { "type": "http" } }),
            "`http`",
        ),
        ("trojan", json!({ "network": "udp" }), "`network`"),
        (
            "trojan",
            json!({ "tls": { "enabled": true, "reality": { "enabled": true } } }),
            "`tls.reality`",
        ),
        (
            "shadowsocks",
            json!({ "plugin": "obfs-local" }),
            "`plugin` `obfs-local`",
        ),
        (
            "shadowsocks",
            json!({ "method": "aes-256-cfb" }),
            "`method` `aes-256-cfb`",
        ),
    ] {
        let (core, problems) = read(json!([outbound(type_name, fields)]));
        assert_eq!(errors(&problems), Vec::<String>::new());
        let Readiness::Unsupported(text) = core.status("0") else {
            panic!("{says} should not be ready");
        };
        assert!(text.contains(says), "`{text}` should name {says}");
    }
}

#[test]
fn options_that_change_nothing_for_tcp_are_accepted() {
    let (core, problems) = read(json!([
        outbound(
            "shadowsocks",
            json!({
                "plugin": "", "plugin_opts": "", "udp_over_tcp": { "enabled": true, "version": 2 },
                "multiplex": { "enabled": true, "protocol": "h2mux" }, "network": ["tcp", "udp"],
            })
        ),
        outbound("shadowsocks", json!({ "method": "none", "password": "" })),
        outbound("shadowsocks", json!({ "password": format!("{KEY}:{KEY}") })),
        outbound(
            "trojan",
            json!({
                "multiplex": { "enabled": true }, "transport": {}, "network": "tcp",
                "tls": { "enabled": true, "server_name": "b.test" },
            })
        ),
        outbound(
            "vless",
            json!({
                "flow": "", "packet_encoding": "xudp", "multiplex": {}, "uuid": "a word",
                "transport": { "type": "httpupgrade" },
            })
        ),
    ]));
    assert_eq!(problems, []);
    for outbound in core.list() {
        assert_eq!(core.status(&outbound.tag), Readiness::Ready, "{outbound:?}");
    }
}
