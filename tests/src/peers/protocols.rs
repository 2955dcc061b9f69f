//! A sing-box that serves the protocols which Outwatch leaves to sing-box, and some that
//! it need not. It must not know who uses them.

use std::process::Command;

use serde_json::{Value, json};

use super::authority::Leaf;
use super::outbound::{outbound, with};
use super::port::Port;
use super::process::{Process, Room};
use super::programs;

/// Whom VMess, VLESS and TUIC let in.
const USER: &str = "b831381d-6324-4d53-ad4f-8cda48b30811";

/// Whom they do not.
const STRANGER: &str = "11111111-2222-4333-8444-555555555555";

/// What the others ask for.
const PASSWORD: &str = "open-sesame";

/// The key of 16 bytes that shadowsocks 2022 asks for.
const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";

/// Another such key.
const OTHER_KEY: &str = "ZmVkY2JhOTg3NjU0MzIxMA==";

/// A running sing-box with a server of each protocol.
#[derive(Debug)]
pub struct Protocols {
    _process: Process,
    ports: Vec<Port>,
}

impl Protocols {
    /// What it serves: the type of the outbound, in this order.
    pub const TYPES: [&str; 8] = [
        "hysteria2",
        "tuic",
        "vmess",
        "vless",
        "trojan",
        "shadowsocks",
        "socks",
        "http",
    ];

    /// Starts it with the certificate of `leaf`.
    pub fn start(leaf: &Leaf) -> Self {
        let ports: Vec<Port> = Self::TYPES.iter().map(|_| Port::reserve()).collect();
        let tls = json!({
            "enabled": true,
            "certificate": leaf.certificate.lines().collect::<Vec<_>>(),
            "key": leaf.key.lines().collect::<Vec<_>>(),
        });
        let inbounds: Vec<Value> = Self::TYPES
            .iter()
            .zip(&ports)
            .map(|(name, port)| inbound(name, port.number(), &tls))
            .collect();
        let config = json!({ "inbounds": inbounds, "outbounds": [{ "type": "direct" }] });
        let room = Room::new();
        let file = room.file("config.json", &config.to_string());
        let mut command = Command::new(programs::sing_box());
        command.args(["run", "--disable-color", "-c"]).arg(file);
        // The first two speak UDP; they listen before the others do.
        let listening: Vec<&Port> = ports.iter().skip(2).collect();
        Self {
            _process: Process::start(command, room, &listening),
            ports,
        }
    }

    /// The outbound of a type that uses it, tagged by its type. Whom to trust is left to
    /// the caller.
    ///
    /// # Panics
    /// When it serves no such type.
    pub fn outbound(&self, type_name: &str) -> Value {
        let index = Self::TYPES.iter().position(|name| *name == type_name);
        let index = index.unwrap_or_else(|| panic!("no {type_name} is served"));
        let plain = outbound(type_name, type_name, self.ports[index].number());
        with(plain, credentials(type_name, USER, PASSWORD, KEY))
    }

    /// The same with a wrong secret.
    ///
    /// # Panics
    /// When it serves no such type.
    pub fn stranger(&self, type_name: &str) -> Value {
        let wrong = credentials(type_name, STRANGER, "guess", OTHER_KEY);
        with(self.outbound(type_name), wrong)
    }
}

/// What the outbound of a type has to know.
fn credentials(type_name: &str, user: &str, password: &str, key: &str) -> Value {
    let tls = json!({ "enabled": true, "server_name": "127.0.0.1" });
    match type_name {
        "hysteria2" | "trojan" => json!({ "password": password, "tls": tls }),
        "tuic" => json!({ "uuid": user, "password": password, "tls": tls }),
        "vmess" | "vless" => json!({ "uuid": user }),
        "shadowsocks" => json!({ "method": "2022-blake3-aes-128-gcm", "password": key }),
        _ => json!({ "username": "ann", "password": password }),
    }
}

fn inbound(type_name: &str, port: u16, tls: &Value) -> Value {
    let listens = json!({ "type": type_name, "listen": "127.0.0.1", "listen_port": port });
    let fields = match type_name {
        "hysteria2" | "trojan" => json!({ "users": [{ "password": PASSWORD }], "tls": tls }),
        "tuic" => json!({ "users": [{ "uuid": USER, "password": PASSWORD }], "tls": tls }),
        "vmess" | "vless" => json!({ "users": [{ "uuid": USER }] }),
        "shadowsocks" => json!({ "method": "2022-blake3-aes-128-gcm", "password": KEY }),
        _ => json!({ "users": [{ "username": "ann", "password": PASSWORD }] }),
    };
    with(listens, fields)
}
