//! The far end of a WireGuard tunnel, in a sing-box. It must not know who is at the near
//! end.

use std::process::Command;

use serde_json::{Value, json};

use super::port::Port;
use super::process::{Process, Room};
use super::programs;

/// The pairs of keys of the far and of the near end: private, public.
const FAR: (&str, &str) = (
    "mBnkV78/j9cogt3gH9waUHc7XtwK6Qq+i9huw18p7l0=",
    "JCCAr0Opl+77qBkyfmbCLTM1DBdemHIQLnOxBX7XNBY=",
);
const NEAR: (&str, &str) = (
    "SIxKK8BmjsRbRSes0WVbsbKx4Q+wKhihSTYCNPoXUH4=",
    "wWJR/HuDuvWzzhvL2If36tMLzfBqnybWS/e7EcKOcTs=",
);

/// A running far end.
#[derive(Debug)]
pub struct WireGuard {
    _process: Process,
    port: Port,
}

impl WireGuard {
    /// Its address in the tunnel, which leads to 127.0.0.1.
    pub const ADDRESS: &str = "10.9.0.1";

    /// Starts it.
    pub fn start() -> Self {
        let (port, listens) = (Port::reserve(), Port::reserve());
        let config = json!({
            // That it listens here shows that all of it is up.
            "inbounds": [{
                "type": "socks", "listen": "127.0.0.1", "listen_port": listens.number(),
            }],
            "endpoints": [{
                "type": "wireguard", "tag": "far", "address": [format!("{}/32", Self::ADDRESS)],
                "private_key": FAR.0, "listen_port": port.number(),
                "peers": [{ "public_key": NEAR.1, "allowed_ips": ["10.9.0.2/32"] }],
            }],
            "outbounds": [{ "type": "direct" }],
        });
        let room = Room::new();
        let file = room.file("config.json", &config.to_string());
        let mut command = Command::new(programs::sing_box());
        command.args(["run", "--disable-color", "-c"]).arg(file);
        Self {
            _process: Process::start(command, room, &[&listens]),
            port,
        }
    }

    /// The endpoint at its near end.
    pub fn endpoint(&self, tag: &str) -> Value {
        json!({
            "type": "wireguard", "tag": tag, "address": ["10.9.0.2/32"], "private_key": NEAR.0,
            "peers": [{
                "address": "127.0.0.1", "port": self.port.number(), "public_key": FAR.1,
                "allowed_ips": ["10.9.0.0/24"],
            }],
        })
    }
}
