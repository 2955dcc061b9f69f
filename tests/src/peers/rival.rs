//! Other proxy cores that choose among outbounds, with an API that tells what they
//! choose. It must not know what is expected of them.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::curl::Curl;
use super::outbound::{socks, with};
use super::port::Port;
use super::process::{Process, Room};
use super::programs;

/// Which core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// sing-box.
    SingBox,
    /// mihomo.
    Mihomo,
}

/// A SOCKS outbound on 127.0.0.1.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its tag.
    pub tag: &'static str,
    /// Where its server listens.
    pub port: u16,
    /// Whether it is said to carry datagrams.
    pub datagrams: bool,
}

/// A running core with groups of SOCKS outbounds, and a SOCKS inbound for each group.
#[derive(Debug)]
pub struct Rival {
    core: Core,
    /// None only while it starts again.
    process: Option<Process>,
    api: Port,
    /// By the place of their group.
    inbounds: Vec<Port>,
    /// Its config, and what it saves.
    room: Room,
}

impl Rival {
    /// Starts a core. The `members` are those of each of the `groups`, which are given in
    /// the core's own words but for that.
    pub fn start(core: Core, members: &[Member], groups: &[Value]) -> Self {
        let api = Port::reserve();
        let inbounds: Vec<Port> = groups.iter().map(|_| Port::reserve()).collect();
        let room = Room::new();
        let config = match core {
            Core::SingBox => sing_box(members, groups, &api, &inbounds, &room),
            Core::Mihomo => mihomo(members, groups, &api, &inbounds),
        };
        // mihomo reads YAML, which all JSON is.
        room.file("config.json", &config.to_string());
        let mut rival = Self {
            core,
            process: None,
            api,
            inbounds,
            room,
        };
        rival.starts_again();
        rival
    }

    /// Ends it, and starts it with the same config and with what it has saved.
    pub fn starts_again(&mut self) {
        self.process = None;
        let folder = self.room.path();
        let config = folder.join("config.json");
        let mut command = Command::new(self.core.program());
        match self.core {
            Core::SingBox => command.args(["run", "--disable-color", "-c"]).arg(config),
            Core::Mihomo => command.arg("-d").arg(folder).arg("-f").arg(config),
        };
        let ports: Vec<&Port> = std::iter::once(&self.api).chain(&self.inbounds).collect();
        self.process = Some(Process::start(command, Room::new(), &ports));
    }

    /// Has every member of a group tested now, at `url`, and waits for the last answer.
    pub fn tests(&self, group: &str, url: &str) {
        self.ask(&format!("/group/{group}/delay?timeout=5000&url={url}"));
    }

    /// The member that a group says it leads to.
    pub fn now(&self, group: &str) -> String {
        let answer = self.ask(&format!("/proxies/{group}"));
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        answer["now"].as_str().unwrap_or_default().to_owned()
    }

    /// What its API answers on a path.
    ///
    /// # Panics
    /// When that is no JSON.
    pub fn answer(&self, path: &str) -> Value {
        serde_json::from_str(&self.ask(path)).expect("JSON")
    }

    /// Where the SOCKS inbound of a group listens on 127.0.0.1.
    ///
    /// # Panics
    /// When there is no such group.
    pub fn port(&self, group: usize) -> u16 {
        self.inbounds[group].number()
    }

    fn ask(&self, path: &str) -> String {
        let answer = Curl::run([format!("http://127.0.0.1:{}{path}", self.api.number())]);
        assert_eq!(answer.code, 0, "{path}: {answer:?}");
        answer.output
    }
}

impl Member {
    /// As it stands in a config of sing-box, and in ours.
    pub fn outbound(&self) -> Value {
        let outbound = socks(self.tag, self.port);
        if self.datagrams {
            outbound
        } else {
            with(outbound, json!({ "network": "tcp" }))
        }
    }
}

impl Core {
    fn program(self) -> PathBuf {
        match self {
            Self::SingBox => programs::sing_box(),
            Self::Mihomo => programs::mihomo(),
        }
    }
}

fn sing_box(
    members: &[Member],
    groups: &[Value],
    api: &Port,
    inbounds: &[Port],
    room: &Room,
) -> Value {
    let tags: Vec<&str> = members.iter().map(|member| member.tag).collect();
    let outbounds = groups.iter().map(|group| {
        let mut group = group.clone();
        group["outbounds"] = json!(tags);
        group
    });
    let outbounds = outbounds.chain(members.iter().map(Member::outbound));
    json!({
        "log": { "level": "debug" },
        "experimental": {
            "cache_file": { "enabled": true, "path": room.path().join("cache.db") },
            "clash_api": { "external_controller": format!("127.0.0.1:{}", api.number()) },
        },
        "inbounds": inbounds.iter().enumerate().map(|(nth, port)| json!({
            "type": "mixed", "tag": format!("in-{nth}"),
            "listen": "127.0.0.1", "listen_port": port.number(),
        })).collect::<Vec<_>>(),
        "outbounds": outbounds.collect::<Vec<_>>(),
        "route": {
            "rules": groups.iter().enumerate().map(|(nth, group)| json!({
                "inbound": [format!("in-{nth}")], "outbound": group["tag"],
            })).collect::<Vec<_>>(),
        },
    })
}

fn mihomo(members: &[Member], groups: &[Value], api: &Port, inbounds: &[Port]) -> Value {
    let tags: Vec<&str> = members.iter().map(|member| member.tag).collect();
    let named = inbounds.iter().enumerate();
    let listeners = named.map(|(nth, port)| {
        json!({
            "name": format!("in-{nth}"), "type": "mixed",
            "listen": "127.0.0.1", "port": port.number(),
        })
    });
    let rules = groups.iter().enumerate().map(|(nth, group)| {
        let group = group["name"].as_str().unwrap_or_default();
        format!("IN-NAME,in-{nth},{group}")
    });
    let rules: Vec<String> = rules.chain(["MATCH,REJECT".to_owned()]).collect();
    let groups = groups.iter().map(|group| {
        let mut group = group.clone();
        group["proxies"] = json!(tags);
        group
    });
    json!({
        "mode": "rule", "log-level": "debug", "ipv6": false,
        "profile": { "store-selected": true },
        "external-controller": format!("127.0.0.1:{}", api.number()),
        "listeners": listeners.collect::<Vec<_>>(),
        "proxies": members.iter().map(|member| json!({
            "name": member.tag, "type": "socks5", "server": "127.0.0.1", "port": member.port,
            "udp": member.datagrams,
        })).collect::<Vec<_>>(),
        "proxy-groups": groups.collect::<Vec<_>>(),
        "rules": rules,
    })
}
