//! The programs that are compared, and how each is told to do the same work. It must not
//! know what is measured.

use std::fs;
use std::path::Path;
use std::process::Command;

use outwatch_tests::peers::{mihomo_program, sing_box_program};
use serde_json::{Value, json};

use crate::running::Running;

/// A program that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Outwatch,
    SingBox,
    Mihomo,
}

impl Program {
    pub(crate) const ALL: [Self; 3] = [Self::Outwatch, Self::SingBox, Self::Mihomo];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Outwatch => "Outwatch",
            Self::SingBox => "sing-box",
            Self::Mihomo => "mihomo",
        }
    }

    /// Starts it with so many SOCKS outbounds of one server to test at `url`. It listens on
    /// `port`, with its API if it has one.
    pub(crate) fn tests(self, outbounds: usize, server: u16, url: &str, port: u16) -> Running {
        let tags: Vec<String> = (0..outbounds).map(|nth| format!("node-{nth}")).collect();
        let each = |type_name: &str, name: &str| -> Vec<Value> {
            let of_tag = |tag: &String| {
                let mut outbound = json!({ "type": type_name, "server": "127.0.0.1" });
                outbound[name] = json!(tag);
                let port = if self == Self::Mihomo {
                    "port"
                } else {
                    "server_port"
                };
                outbound[port] = json!(server);
                outbound
            };
            tags.iter().map(of_tag).collect()
        };
        let group = json!({
            "type": "urltest", "tag": "auto", "outbounds": tags, "url": url, "interval": "10m",
        });
        let mut outbounds = vec![group];
        let config = match self {
            Self::Outwatch => {
                outbounds.extend(each("socks", "tag"));
                json!({
                    // With somebody using it, and so testing on.
                    "inbounds": [{ "type": "mixed", "tag": "in", "listen_port": port }],
                    "outbounds": outbounds,
                    "experimental": { "monitoring": {
                        "urls": [url], "ip_lookup": false, "interval": "15s", "idle_timeout": "1d",
                    } },
                })
            }
            Self::SingBox => {
                outbounds.extend(each("socks", "tag"));
                json!({
                    "log": { "disabled": true },
                    "outbounds": outbounds,
                    "experimental": { "clash_api": {
                        "external_controller": format!("127.0.0.1:{port}"),
                    } },
                })
            }
            Self::Mihomo => json!({
                "mode": "rule", "log-level": "silent", "ipv6": false,
                "external-controller": format!("127.0.0.1:{port}"),
                "proxies": each("socks5", "name"),
                "proxy-groups": [{
                    "name": "auto", "type": "url-test", "proxies": tags, "url": url,
                    "interval": 0, "lazy": true,
                }],
                "rules": ["MATCH,auto"],
            }),
        };
        Running::start(port, |folder| self.command(folder, &config))
    }

    /// Starts it with a mixed inbound on `port`, whose connections go straight to where
    /// they want.
    pub(crate) fn relays(self, port: u16) -> Running {
        let direct = json!([{ "type": "direct", "tag": "direct" }]);
        let inbound = json!([{
            "type": "mixed", "tag": "in", "listen": "127.0.0.1", "listen_port": port,
        }]);
        let config = match self {
            Self::Outwatch => json!({
                "inbounds": inbound, "outbounds": direct,
                "experimental": { "monitoring": { "enabled": false } },
            }),
            Self::SingBox => json!({
                "log": { "disabled": true }, "inbounds": inbound, "outbounds": direct,
            }),
            Self::Mihomo => json!({
                "mode": "direct", "log-level": "silent", "ipv6": false, "mixed-port": port,
            }),
        };
        Running::start(port, |folder| self.command(folder, &config))
    }

    fn command(self, folder: &Path, config: &Value) -> Command {
        let file = folder.join("config.json");
        // mihomo reads YAML, which all JSON is.
        fs::write(&file, config.to_string()).expect("a file");
        let mut command = Command::new(match self {
            Self::Outwatch => env!("CARGO_BIN_EXE_outwatch").into(),
            Self::SingBox => sing_box_program(),
            Self::Mihomo => mihomo_program(),
        });
        match self {
            Self::Outwatch => command
                .args(["run", "--core", "native", "--log-level", "warn", "--cache"])
                .arg(folder.join("results.redb"))
                .arg("-c")
                .arg(file),
            Self::SingBox => command.args(["run", "-c"]).arg(file),
            Self::Mihomo => command.arg("-d").arg(folder).arg("-f").arg(file),
        };
        command
    }
}
