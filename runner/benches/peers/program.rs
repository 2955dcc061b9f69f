//! The programs that are compared, and how each is told to do the same work. It must not
//! know what is measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use outwatch_tests::peers::{mihomo_program, sing_box_program};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::running::Running;

/// A program that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Outwatch,
    SingBox,
    Mihomo,
}

/// What all programs share.
pub(crate) struct Programs {
    /// Where Outwatch keeps compiled code.
    cache: TempDir,
}

impl Programs {
    /// Has what is compiled at a first start compiled.
    pub(crate) fn prepare() -> Self {
        let programs = Self {
            cache: TempDir::new().expect("a temporary folder"),
        };
        let folder = TempDir::new().expect("a temporary folder");
        let mut check = programs.outwatch();
        let config = write(
            folder.path(),
            &json!({ "outbounds": [{ "type": "direct" }] }),
        );
        let checked = check.args(["check", "-c"]).arg(config).output();
        assert!(checked.is_ok_and(|output| output.status.success()));
        programs
    }

    fn outwatch(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_outwatch"));
        command.env("XDG_CACHE_HOME", self.cache.path());
        command
    }
}

/// mihomo reads YAML, which all JSON is.
fn write(folder: &Path, config: &Value) -> PathBuf {
    let file = folder.join("config.json");
    fs::write(&file, config.to_string()).expect("a file");
    file
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
    pub(crate) fn tests(
        self,
        programs: &Programs,
        outbounds: usize,
        server: u16,
        url: &str,
        port: u16,
    ) -> Running {
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
                        "urls": [url], "ip_lookup": false, "interval": "20s", "idle_timeout": "1d",
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
        Running::start(port, |folder| self.command(programs, folder, &config))
    }

    /// Starts it with a mixed inbound on `port`, whose connections go straight to where
    /// they want.
    pub(crate) fn relays(self, programs: &Programs, port: u16) -> Running {
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
        Running::start(port, |folder| self.command(programs, folder, &config))
    }

    fn command(self, programs: &Programs, folder: &Path, config: &Value) -> Command {
        let file = write(folder, config);
        match self {
            Self::Outwatch => {
                let mut command = programs.outwatch();
                command
                    .args(["run", "--core", "native", "--log-level", "warn", "--cache"])
                    .arg(folder.join("results.redb"))
                    .arg("-c")
                    .arg(file);
                command
            }
            Self::SingBox => {
                let mut command = Command::new(sing_box_program());
                command.args(["run", "-c"]).arg(file);
                command
            }
            Self::Mihomo => {
                let mut command = Command::new(mihomo_program());
                command.arg("-d").arg(folder).arg("-f").arg(file);
                command
            }
        }
    }
}
