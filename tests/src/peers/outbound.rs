//! Outbounds as they stand in a config. It must not know which servers there are.

use serde_json::{Value, json};

/// An outbound of any type whose server is on 127.0.0.1.
pub fn outbound(type_name: &str, tag: &str, port: u16) -> Value {
    json!({ "type": type_name, "tag": tag, "server": "127.0.0.1", "server_port": port })
}

/// A `socks` outbound.
pub fn socks(tag: &str, port: u16) -> Value {
    outbound("socks", tag, port)
}

/// An `http` outbound.
pub fn http(tag: &str, port: u16) -> Value {
    outbound("http", tag, port)
}

/// The same, through `detour`.
pub fn through(outbound: Value, detour: &str) -> Value {
    with(outbound, json!({ "detour": detour }))
}

/// The same with more fields, or other values of them.
///
/// # Panics
/// When one of the two is no object.
pub fn with(mut outbound: Value, fields: Value) -> Value {
    let (Value::Object(object), Value::Object(fields)) = (&mut outbound, fields) else {
        panic!("an outbound and its fields are objects");
    };
    object.extend(fields);
    outbound
}
