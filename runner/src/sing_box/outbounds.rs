//! The outbounds of a config as sing-box is to dial them: which there are, where groups
//! lead, and which must be left out. It must not know sing-box's process.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::selections::Selections;
use crate::config::{Config, Entry};
use crate::proxy_core::{Kind, Network, Outbound};

/// What a config says of outbounds and of dialing, and what of it cannot be used.
#[derive(Clone, Debug)]
pub(super) struct Outbounds {
    pub(super) entries: Vec<Entry>,
    /// `certificate`, `dns`, `http_clients` and `route`, as in the file.
    pub(super) sections: Map<String, Value>,
    by_tag: HashMap<String, usize>,
    /// D-6, by place in `entries`.
    left_out: HashMap<usize, String>,
}

impl Outbounds {
    /// Those of `config`; what is known not to work is left out already.
    pub(super) fn new(config: &Config) -> Self {
        let entries = config.entries.clone();
        let mut by_tag = HashMap::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            by_tag.entry(entry.tag.clone()).or_insert(index);
        }
        let mut sections = config.dialing.clone();
        sections.insert("route".to_owned(), config.route.clone().into());
        if let Some(certificate) = &config.certificate {
            sections.insert("certificate".to_owned(), certificate.clone().into());
        }
        let mut outbounds = Self {
            entries,
            sections,
            by_tag,
            left_out: HashMap::new(),
        };
        for (index, entry) in outbounds.entries.iter().enumerate() {
            if entry.type_name == "dns" {
                let why = "a `dns` outbound answers DNS queries and opens no streams";
                outbounds.left_out.insert(index, why.to_owned());
            }
        }
        outbounds.leave_out_dependents();
        outbounds
    }

    /// All of them, those left out too, in config order.
    pub(super) fn list(&self) -> Vec<Outbound> {
        let networks = |entry: &Entry| match self.carries_datagrams(&entry.tag) {
            true => vec![Network::Tcp, Network::Udp],
            false => vec![Network::Tcp],
        };
        let listed = |entry: &Entry| Outbound {
            kind: entry.kind,
            networks: networks(entry),
            detour: entry.detour.clone(),
            members: entry.members.clone(),
            fingerprint: entry.fingerprint.clone(),
            exit_follows_host: entry.type_name == "direct" && entry.detour.is_none(),
            ..Outbound::new(entry.tag.clone(), entry.type_name.clone())
        };
        self.entries.iter().map(listed).collect()
    }

    pub(super) fn find(&self, tag: &str) -> Option<(usize, &Entry)> {
        let index = *self.by_tag.get(tag)?;
        Some((index, self.entries.get(index)?))
    }

    /// The tags of all that sing-box gets.
    pub(super) fn tags(&self) -> impl Iterator<Item = String> {
        let all = self.entries.iter().enumerate();
        all.filter(|(index, _)| !self.left_out.contains_key(index))
            .map(|(_, entry)| entry.tag.clone())
    }

    /// The group of this tag.
    pub(super) fn group(&self, tag: &str) -> Option<&Entry> {
        self.find(tag)
            .map(|(_, entry)| entry)
            .filter(|entry| entry.kind == Kind::Group)
    }

    /// Why an outbound is not in sing-box's config, if it is not.
    pub(super) fn why_left_out(&self, index: usize) -> Option<&str> {
        self.left_out.get(&index).map(String::as_str)
    }

    /// Takes an outbound out of what sing-box gets (D-6), and with it those that dial
    /// through it.
    pub(super) fn leave_out(&mut self, index: usize, why: String) {
        self.left_out.entry(index).or_insert(why);
        self.leave_out_dependents();
    }

    /// Members of a group that sing-box gets, in config order.
    pub(super) fn members<'a>(&'a self, group: &'a Entry) -> impl Iterator<Item = &'a str> {
        let usable = |tag: &&str| {
            self.find(tag)
                .is_some_and(|(index, _)| !self.left_out.contains_key(&index))
        };
        group.members.iter().map(String::as_str).filter(usable)
    }

    /// Where a group leads, if it has chosen and the member can be used; else its first
    /// member that can, and that carries such traffic.
    pub(super) fn lead<'a>(
        &'a self,
        group: &'a Entry,
        network: Network,
        selections: &Selections,
    ) -> Option<&'a str> {
        let chosen = selections.of(group, network);
        let carries = |member: &&str| match network {
            Network::Tcp => true,
            Network::Udp => self.carries_datagrams(member),
        };
        self.members(group)
            .find(|member| Some(*member) == chosen.as_deref())
            .or_else(|| self.members(group).find(carries))
    }

    /// What a group leads to in the end; anything else is its own leaf.
    pub(super) fn leaf<'a>(
        &'a self,
        tag: &'a str,
        network: Network,
        selections: &Selections,
    ) -> Option<(usize, &'a Entry)> {
        let mut tag = tag;
        for _ in 0..=self.entries.len() {
            let (index, entry) = self.find(tag)?;
            if entry.kind != Kind::Group {
                return Some((index, entry));
            }
            tag = self.lead(entry, network, selections)?;
        }
        None
    }

    /// Each round finds what depends on the finds of the round before.
    fn leave_out_dependents(&mut self) {
        loop {
            let found: Vec<(usize, String)> = self
                .entries
                .iter()
                .enumerate()
                .filter(|(index, _)| !self.left_out.contains_key(index))
                .filter_map(|(index, entry)| Some((index, self.why_not(entry)?)))
                .collect();
            if found.is_empty() {
                return;
            }
            self.left_out.extend(found);
        }
    }

    fn why_not(&self, entry: &Entry) -> Option<String> {
        if entry.kind == Kind::Group {
            let none = self.members(entry).next().is_none();
            return none.then(|| "none of its members can be used".to_owned());
        }
        let detour = entry.detour.as_ref()?;
        let Some((index, _)) = self.find(detour) else {
            // D-5
            return Some(format!("its detour `{detour}` does not exist"));
        };
        let why = self.left_out.get(&index)?;
        Some(format!("its detour `{detour}` cannot be used: {why}"))
    }

    /// Whether what `tag` dials through is, somewhere on the way, chosen by a group.
    pub(super) fn goes_through_group(&self, tag: &str) -> bool {
        let mut seen = HashSet::new();
        let mut next = self
            .find(tag)
            .and_then(|(_, entry)| entry.detour.as_deref());
        while let Some((index, entry)) = next.and_then(|tag| self.find(tag)) {
            if entry.kind == Kind::Group {
                return true;
            }
            if !seen.insert(index) {
                return false;
            }
            next = entry.detour.as_deref();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sing_box::testing::config;

    fn outbounds(list: &Value) -> Outbounds {
        Outbounds::new(&config(&json!({ "outbounds": list })))
    }

    fn why(outbounds: &Outbounds, tag: &str) -> Option<String> {
        let (index, _) = outbounds.find(tag).unwrap();
        outbounds.why_left_out(index).map(str::to_owned)
    }

    #[test]
    fn d6_what_dials_through_one_that_is_left_out_is_left_out_too() {
        let mut outbounds = outbounds(&json!([
            { "type": "socks", "tag": "far", "detour": "group" },
            { "type": "selector", "tag": "group", "outbounds": ["near"] },
            { "type": "http", "tag": "near", "detour": "odd" },
            { "type": "odd", "tag": "odd" },
            { "type": "direct", "tag": "other" },
        ]));
        assert_eq!(why(&outbounds, "far"), None);
        outbounds.leave_out(3, "unknown outbound type: odd".to_owned());
        assert!(
            why(&outbounds, "near")
                .unwrap()
                .contains("unknown outbound type: odd")
        );
        assert!(
            why(&outbounds, "far")
                .unwrap()
                .contains("none of its members")
        );
        assert_eq!(why(&outbounds, "other"), None);
    }

    #[test]
    fn g1_a_group_leads_to_its_selection_else_to_the_first_member_that_can_be_used() {
        let mut outbounds = outbounds(&json!([
            { "type": "urltest", "tag": "auto", "outbounds": ["a", "b", "inner"] },
            { "type": "selector", "tag": "inner", "outbounds": ["b", "a"], "default": "a" },
            { "type": "odd", "tag": "a" },
            { "type": "direct", "tag": "b" },
        ]));
        let selections = Selections::default();
        let leaf = |outbounds: &Outbounds, tag| {
            let leaf = outbounds.leaf(tag, Network::Tcp, &selections);
            leaf.map(|(_, entry)| entry.tag.clone()).unwrap()
        };
        assert_eq!(leaf(&outbounds, "auto"), "a");
        assert_eq!(leaf(&outbounds, "inner"), "a");
        outbounds.leave_out(2, "odd".to_owned());
        assert_eq!(leaf(&outbounds, "auto"), "b");
        assert_eq!(leaf(&outbounds, "inner"), "b");
        selections.set("auto", Network::Tcp, "inner");
        assert_eq!(leaf(&outbounds, "auto"), "b");
    }

    #[test]
    fn d5_a_detour_that_names_nothing_leaves_the_outbound_out() {
        let mut config = config(&json!({ "outbounds": [{ "type": "direct", "tag": "a" }] }));
        config.entries[0].detour = Some("gone".to_owned());
        assert!(
            why(&Outbounds::new(&config), "a")
                .unwrap()
                .contains("`gone`")
        );
    }
}
