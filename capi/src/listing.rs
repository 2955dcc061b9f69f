//! The list of outbounds as a host writes it: JSON text to what a core lists. It must not
//! know who asks for the list.

use outwatch::{Kind, Network, Outbound};
use serde::Deserialize;

/// One entry, as the header describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    tag: String,
    #[serde(rename = "type")]
    type_name: String,
    #[serde(default)]
    kind: EntryKind,
    detour: Option<String>,
    #[serde(default)]
    members: Vec<String>,
    #[serde(default = "tcp_alone")]
    networks: Vec<EntryNetwork>,
    #[serde(default)]
    fingerprint: String,
    #[serde(default)]
    exit_follows_host: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum EntryKind {
    #[default]
    Outbound,
    Endpoint,
    Group,
    Untestable,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EntryNetwork {
    Tcp,
    Udp,
}

/// Reads a list; an error says where in it and what.
pub(crate) fn read(json: &str) -> Result<Vec<Outbound>, String> {
    let entries: Vec<Entry> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| {
            entry
                .outbound()
                .map_err(|error| format!("[{index}]: {error}"))
        })
        .collect()
}

fn tcp_alone() -> Vec<EntryNetwork> {
    vec![EntryNetwork::Tcp]
}

impl Entry {
    fn outbound(self) -> Result<Outbound, String> {
        let tags = [&self.tag]
            .into_iter()
            .chain(&self.detour)
            .chain(&self.members);
        for tag in tags {
            if tag.contains('\0') {
                return Err(format!(
                    "the tag {tag:?} has a NUL, which would end it in C"
                ));
            }
        }
        Ok(Outbound {
            kind: match self.kind {
                EntryKind::Outbound => Kind::Outbound,
                EntryKind::Endpoint => Kind::Endpoint,
                EntryKind::Group => Kind::Group,
                EntryKind::Untestable => Kind::Untestable,
            },
            detour: self.detour,
            members: self.members,
            networks: self.networks.iter().map(EntryNetwork::network).collect(),
            fingerprint: self.fingerprint,
            exit_follows_host: self.exit_follows_host,
            ..Outbound::new(self.tag, self.type_name)
        })
    }
}

impl EntryNetwork {
    fn network(&self) -> Network {
        match self {
            Self::Tcp => Network::Tcp,
            Self::Udp => Network::Udp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_needs_a_tag_and_a_type_and_may_say_all_else() {
        let read = read(
            r#"[
                { "tag": "a", "type": "socks" },
                { "tag": "b", "type": "wireguard", "kind": "endpoint", "detour": "a",
                  "networks": ["tcp", "udp"], "fingerprint": "b.example:1",
                  "exit_follows_host": true },
                { "tag": "c", "type": "selector", "kind": "group", "members": ["a", "b"] },
                { "tag": "d", "type": "block", "kind": "untestable", "networks": [] }
            ]"#,
        );
        let b = Outbound {
            kind: Kind::Endpoint,
            detour: Some("a".into()),
            networks: vec![Network::Tcp, Network::Udp],
            fingerprint: "b.example:1".into(),
            exit_follows_host: true,
            ..Outbound::new("b", "wireguard")
        };
        let d = Outbound {
            kind: Kind::Untestable,
            networks: Vec::new(),
            ..Outbound::new("d", "block")
        };
        let listed = [
            Outbound::new("a", "socks"),
            b,
            Outbound::group("c", "selector", ["a", "b"]),
            d,
        ];
        assert_eq!(read.as_deref(), Ok(&listed[..]));
    }

    #[test]
    fn a_wrong_list_is_refused_with_the_place_and_the_word() {
        let unknown = read(r#"[{ "tag": "a", "type": "x", "member": [] }]"#).unwrap_err();
        assert!(unknown.contains("unknown field `member`"), "{unknown}");
        assert!(unknown.contains("line 1 column"), "{unknown}");
        let nul = read(r#"[{ "tag": "a", "type": "x" }, { "tag": "\u0000", "type": "x" }]"#);
        assert!(nul.unwrap_err().starts_with("[1]: the tag \"\\0\""));
    }
}
