//! Which outbounds carry datagrams in sing-box, all the way to their server. It must not
//! know how they are dialed.

use std::collections::HashSet;

use serde_json::Value;

use super::outbounds::Outbounds;
use super::selections::Selections;
use crate::config::Entry;
use crate::proxy_core::{Kind, Network};

impl Outbounds {
    /// Whether `tag` carries datagrams; a group does if any of its members can.
    pub(super) fn carries_datagrams(&self, tag: &str) -> bool {
        self.reaches(tag, None, &mut HashSet::new())
    }

    /// The same of where its way leads now.
    pub(super) fn carries_datagrams_now(&self, tag: &str, selections: &Selections) -> bool {
        self.reaches(tag, Some(selections), &mut HashSet::new())
    }

    /// What was `seen` before is in a loop, or carries none.
    fn reaches(&self, tag: &str, now: Option<&Selections>, seen: &mut HashSet<usize>) -> bool {
        let Some((index, entry)) = self.find(tag) else {
            return false;
        };
        if self.why_left_out(index).is_some() || !seen.insert(index) {
            return false;
        }
        if entry.kind == Kind::Group {
            let mut reaches = |member| self.reaches(member, now, seen);
            return match now {
                None => self.members(entry).any(reaches),
                // In sing-box a group leads all traffic of a detour to one member.
                Some(now) => self
                    .lead(entry, Network::Tcp, now)
                    .is_some_and(&mut reaches),
            };
        }
        match (carrier(entry), &entry.detour) {
            (None, _) => false,
            (Some(Network::Udp), Some(detour)) => self.reaches(detour, now, seen),
            (Some(Network::Udp), None) | (Some(Network::Tcp), _) => true,
        }
    }
}

/// What takes an outbound's datagrams to its server, as sing-box has it; none where it
/// carries none.
fn carrier(entry: &Entry) -> Option<Network> {
    let in_streams = entry.options.get("udp_over_tcp").is_some_and(is_enabled);
    let carrier = match entry.type_name.as_str() {
        "socks" if is_older_socks(entry) => return None,
        "socks" | "shadowsocks" | "naive" if in_streams => Network::Tcp,
        "anytls" | "trojan" | "vless" | "vmess" => Network::Tcp,
        "direct" | "hysteria" | "hysteria2" | "shadowsocks" | "socks" | "tailscale" | "tuic"
        | "wireguard" => Network::Udp,
        // Such as `http` and `ssh`; what is not known yet is taken for one of them.
        _ => return None,
    };
    let allowed = match entry.options.get("network") {
        Some(Value::String(name)) => name.is_empty() || name == "udp",
        Some(Value::Array(names)) => names.is_empty() || names.iter().any(|name| name == "udp"),
        _ => true,
    };
    allowed.then_some(carrier)
}

/// Whether one way carries datagrams to one target alone: the protocol has a place for it
/// in its request, and none beside each datagram.
pub(super) fn has_one_target(entry: &Entry) -> bool {
    let encoding = entry.options.get("packet_encoding").and_then(Value::as_str);
    match entry.type_name.as_str() {
        "vmess" => encoding.is_none_or(str::is_empty),
        "vless" => encoding == Some(""),
        _ => false,
    }
}

fn is_enabled(option: &Value) -> bool {
    option == true || option["enabled"] == true
}

fn is_older_socks(entry: &Entry) -> bool {
    let version = entry.options.get("version").and_then(Value::as_str);
    version.is_some_and(|version| version.starts_with('4'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sing_box::testing::config;

    /// Which of these outbounds carry datagrams.
    fn carrying(list: &Value) -> Vec<String> {
        let outbounds = Outbounds::new(&config(&json!({ "outbounds": list })));
        let listed = outbounds.list().into_iter();
        let carrying = listed.filter(|outbound| outbound.networks.contains(&Network::Udp));
        carrying.map(|outbound| outbound.tag).collect()
    }

    #[test]
    fn udp_is_listed_by_type_and_network() {
        let found = carrying(&json!([
            { "type": "vmess", "tag": "vmess" },
            { "type": "http", "tag": "http" },
            { "type": "ssh", "tag": "ssh" },
            { "type": "anytls", "tag": "anytls" },
            { "type": "something new", "tag": "new" },
            { "type": "socks", "tag": "socks" },
            { "type": "socks", "tag": "socks 4a", "version": "4a" },
            { "type": "tuic", "tag": "streams", "network": "tcp" },
            { "type": "tuic", "tag": "both", "network": ["tcp", "udp"] },
            { "type": "naive", "tag": "naive" },
            { "type": "naive", "tag": "naive over tcp", "udp_over_tcp": { "enabled": true } },
        ]));
        assert_eq!(
            found,
            ["vmess", "anytls", "socks", "both", "naive over tcp"]
        );
    }

    #[test]
    fn udp_is_listed_where_the_whole_way_carries_it() {
        let found = carrying(&json!([
            { "type": "http", "tag": "http" },
            { "type": "trojan", "tag": "stream", "detour": "http" },
            { "type": "shadowsocks", "tag": "packets", "detour": "http" },
            { "type": "shadowsocks", "tag": "over tcp", "detour": "http", "udp_over_tcp": true },
            { "type": "shadowsocks", "tag": "through", "detour": "group" },
            { "type": "shadowsocks", "tag": "cut", "detour": "streams" },
            { "type": "urltest", "tag": "group", "outbounds": ["streams", "stream"] },
            { "type": "selector", "tag": "streams", "outbounds": ["http", "packets"] },
        ]));
        assert_eq!(found, ["stream", "over tcp", "through", "group"]);
    }
}
