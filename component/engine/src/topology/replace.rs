//! Takes a list of outbounds instead of the one there was, and says what became of
//! whom. It must not know results.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Entry, Id, Topology};
use crate::input::{Kind, Outbound, Selection};

/// What a change of the outbounds came to.
#[derive(Debug, Default)]
pub(crate) struct Replaced {
    pub(crate) added: BTreeSet<Id>,
    /// Same tag, other server or kind: what was known is of no use.
    pub(crate) changed: BTreeSet<Id>,
    /// The same, but for what is shown of it or who its members are.
    pub(crate) altered: Vec<Id>,
    /// Groups that were there and select something else.
    pub(crate) switched: BTreeSet<Id>,
    /// For the log: what is odd in the list.
    pub(crate) problems: Vec<String>,
}

impl Topology {
    /// Takes a new list. Numbers of tags that stay are kept.
    pub(crate) fn replace(
        &mut self,
        outbounds: Vec<Outbound>,
        selections: &[Selection],
    ) -> Replaced {
        let mut replaced = Replaced::default();
        let before = core::mem::take(&mut self.order);
        let mut seen = BTreeSet::new();
        let mut listed = Vec::with_capacity(outbounds.len());
        for outbound in outbounds {
            let id = self.admit(&outbound, &mut replaced);
            if seen.insert(id) {
                self.order.push(id);
                listed.push(outbound);
            } else {
                reached!("a tag stands twice");
                let problem = format!("the tag {:?} stands twice", outbound.tag);
                replaced.problems.push(problem);
            }
        }
        for id in before.into_iter().filter(|id| !seen.contains(id)) {
            self.retire(id);
        }
        self.link(&listed, &mut replaced);
        self.find_ancestors();
        self.select_all(selections, &mut replaced);
        replaced
    }

    /// Finds or makes the number of an outbound.
    fn admit(&mut self, outbound: &Outbound, replaced: &mut Replaced) -> Id {
        if let Some(id) = self.find(&outbound.tag) {
            return id;
        }
        let entry = Entry::new(outbound);
        let tag = entry.tag.clone();
        let id = match self.free.pop() {
            Some(id) => {
                self.entries[id.index()] = entry;
                reached!("the number of one that went is given out again");
                id
            }
            None => {
                self.entries.push(entry);
                // More than u32::MAX outbounds do not fit into any memory.
                Id(u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX))
            }
        };
        self.by_tag.insert(tag, id);
        replaced.added.insert(id);
        id
    }

    /// Takes an entry out; its number is free from the next change on.
    fn retire(&mut self, id: Id) {
        let entry = &mut self.entries[id.index()];
        entry.alive = false;
        entry.parents.clear();
        entry.ancestors = None;
        entry.dialed_by.clear();
        entry.members.clear();
        entry.detour = None;
        entry.selected = None;
        entry.selected_udp = None;
        let tag = entry.tag.clone();
        self.by_tag.remove(&tag);
        self.free.push(id);
    }

    /// Takes what stands in the list, members and detours in both directions.
    fn link(&mut self, listed: &[Outbound], replaced: &mut Replaced) {
        for id in &self.order {
            let entry = &mut self.entries[id.index()];
            entry.parents.clear();
            entry.dialed_by.clear();
        }
        for (rank, outbound) in listed.iter().enumerate() {
            let id = self.order[rank];
            let members = self.members(outbound);
            let detour = outbound.detour.as_deref().and_then(|tag| self.find(tag));
            if let (Some(tag), None) = (&outbound.detour, detour) {
                reached!("a detour names nothing");
                // D-5
                let name = &outbound.tag;
                let problem = format!("{name:?} names the detour {tag:?}, which is not there");
                replaced.problems.push(problem);
            }
            for member in &members {
                self.entries[member.index()].parents.push(id);
            }
            if let Some(detour) = detour {
                self.entries[detour.index()].dialed_by.push(id);
            }
            let entry = &mut self.entries[id.index()];
            if !replaced.added.contains(&id) {
                if entry.fingerprint != outbound.fingerprint || entry.kind != outbound.kind {
                    replaced.changed.insert(id);
                } else if entry.members != members || *entry.type_name != *outbound.type_name {
                    replaced.altered.push(id);
                }
            }
            entry.update(outbound);
            entry.rank = u32::try_from(rank).unwrap_or(u32::MAX);
            entry.members = members;
            entry.detour = detour;
        }
    }

    /// Every change of a result asks for them: they are looked for once.
    fn find_ancestors(&mut self) {
        for &id in &self.order {
            let above = self.climb(id, |_, _| true);
            let entry = &mut self.entries[id.index()];
            entry.ancestors = (above != entry.parents).then(|| above.into_boxed_slice());
        }
    }

    /// Takes all selections; a group without one has not chosen.
    fn select_all(&mut self, selections: &[Selection], replaced: &mut Replaced) {
        let mut silent: BTreeSet<Id> = self.order.iter().copied().collect();
        for selection in selections {
            let Some((id, switch)) = self.select(selection) else {
                continue;
            };
            silent.remove(&id);
            if (switch.tcp || switch.udp) && !replaced.added.contains(&id) {
                replaced.switched.insert(id);
            }
        }
        for id in silent {
            let entry = &mut self.entries[id.index()];
            entry.selected_udp = None;
            if entry.selected.take().is_some() {
                replaced.switched.insert(id);
            }
        }
    }

    /// A group's members that are there, each once; what is no group has none.
    fn members(&self, outbound: &Outbound) -> Vec<Id> {
        if outbound.kind != Kind::Group {
            return Vec::new();
        }
        let mut seen = BTreeSet::new();
        let known = outbound.members.iter().filter_map(|tag| self.find(tag));
        known.filter(|&id| seen.insert(id)).collect()
    }
}

impl Entry {
    fn new(outbound: &Outbound) -> Self {
        Self {
            tag: Arc::from(outbound.tag.as_str()),
            type_name: Arc::from(outbound.type_name.as_str()),
            kind: outbound.kind,
            fingerprint: outbound.fingerprint.clone(),
            exit_follows_host: outbound.exit_follows_host,
            rank: 0,
            detour: None,
            members: Vec::new(),
            selected: None,
            selected_udp: None,
            parents: Vec::new(),
            ancestors: None,
            dialed_by: Vec::new(),
            alive: true,
        }
    }

    /// Takes what concerns it alone.
    fn update(&mut self, outbound: &Outbound) {
        if *self.type_name != *outbound.type_name {
            self.type_name = Arc::from(outbound.type_name.as_str());
        }
        self.kind = outbound.kind;
        self.fingerprint.clone_from(&outbound.fingerprint);
        self.exit_follows_host = outbound.exit_follows_host;
    }
}
