//! What stands for the identity of an outbound's server, so that a tag reused by
//! another server inherits no results (SPEC P-2). It must not know the protocols.

use std::fmt::Write;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Fields that say how a server is used, not which one it is. Everything else
/// counts, so that a field of a protocol unknown here is never overlooked: a
/// changed setting then costs a saved result, a changed server never keeps one.
const NOT_IDENTITY: [&str; 33] = [
    "tag",
    "type",
    "detour",
    // How the server is dialed.
    "bind_interface",
    "inet4_bind_address",
    "inet6_bind_address",
    "bind_address_no_port",
    "routing_mark",
    "reuse_addr",
    "netns",
    "connect_timeout",
    "tcp_fast_open",
    "tcp_multi_path",
    "disable_tcp_keep_alive",
    "tcp_keep_alive",
    "tcp_keep_alive_interval",
    "udp_fragment",
    "udp_timeout",
    "domain_resolver",
    "domain_strategy",
    "network_strategy",
    "network_type",
    "fallback_network_type",
    "fallback_delay",
    // What is sent to it, and how.
    "network",
    "multiplex",
    "udp_over_tcp",
    "packet_encoding",
    "up",
    "down",
    "up_mbps",
    "down_mbps",
    "tls",
];

/// What of `tls` decides where a connection ends up.
const TLS_IDENTITY: [(&str, &str); 2] = [
    ("server_name", "tls.server_name"),
    ("reality", "tls.reality"),
];

/// 32 hexadecimal digits, the same for the same server whatever the order of its
/// fields, its tag, its detour and the options it is dialed with.
pub(super) fn fingerprint(type_name: &str, fields: &Map<String, Value>) -> String {
    let mut identity: Vec<(&str, &Value)> = fields
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .filter(|(key, value)| !NOT_IDENTITY.contains(key) && !value.is_null())
        .collect();
    if let Some(Value::Object(tls)) = fields.get("tls") {
        identity.extend(
            TLS_IDENTITY
                .iter()
                .filter_map(|(key, name)| Some((*name, tls.get(*key)?))),
        );
    }
    let mut text = format!("outwatch 1 {}", Value::from(type_name));
    for (key, value) in sorted(identity) {
        let _ = write!(text, " {}=", Value::from(key));
        canonical(value, &mut text);
    }
    let mut digest = format!("{:x}", Sha256::digest(text));
    digest.truncate(32);
    digest
}

/// `value` as JSON with sorted keys.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (key, value) in sorted(
                fields
                    .iter()
                    .map(|(key, value)| (key.as_str(), value))
                    .collect(),
            ) {
                let _ = write!(out, "{}:", Value::from(key));
                canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

fn sorted<'a>(mut fields: Vec<(&'a str, &'a Value)>) -> Vec<(&'a str, &'a Value)> {
    fields.sort_by_key(|(key, _)| *key);
    fields
}
