//! What the core has: outbounds and groups by number, and who leads or dials where.
//! It must not know results.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::input::{Kind, Outbound, Selection};

mod walk;

/// Names an entry inside the engine. A tag keeps its number as long as it is
/// there; the number of a tag that went is given out again at a later change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) u32);

impl Id {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One outbound, endpoint or group.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tag: Arc<str>,
    pub(crate) type_name: Arc<str>,
    pub(crate) kind: Kind,
    pub(crate) fingerprint: String,
    pub(crate) exit_follows_host: bool,
    /// Place in the config.
    pub(crate) rank: u32,
    pub(crate) detour: Option<Id>,
    pub(crate) members: Vec<Id>,
    pub(crate) selected: Option<Id>,
    pub(crate) selected_udp: Option<Id>,
    /// Groups it is a member of.
    parents: Vec<Id>,
    /// Outbounds that name it as their detour.
    dialed_by: Vec<Id>,
    alive: bool,
}

/// All entries. The default is an empty core.
#[derive(Debug, Default)]
pub(crate) struct Topology {
    entries: Vec<Entry>,
    by_tag: BTreeMap<Arc<str>, Id>,
    order: Vec<Id>,
    free: Vec<Id>,
}

/// What a change of the outbounds came to.
#[derive(Debug, Default)]
pub(crate) struct Replaced {
    pub(crate) added: Vec<Id>,
    /// Numbers and tags that are gone.
    pub(crate) removed: Vec<Id>,
    /// Same tag, other server or kind: what was known is of no use.
    pub(crate) changed: Vec<Id>,
    /// Groups that were there and select something else.
    pub(crate) switched: Vec<Id>,
    /// Groups with other members.
    pub(crate) regrouped: Vec<Id>,
    /// For the log: what is odd in the list.
    pub(crate) problems: Vec<String>,
}

impl Topology {
    pub(crate) fn find(&self, tag: &str) -> Option<Id> {
        self.by_tag.get(tag).copied()
    }

    /// The entry of a number that this topology gave out.
    pub(crate) fn get(&self, id: Id) -> &Entry {
        &self.entries[id.index()]
    }

    pub(crate) fn tag(&self, id: Id) -> &str {
        &self.get(id).tag
    }

    pub(crate) fn is_alive(&self, id: Id) -> bool {
        self.entries
            .get(id.index())
            .is_some_and(|entry| entry.alive)
    }

    pub(crate) fn is_group(&self, id: Id) -> bool {
        self.get(id).kind == Kind::Group
    }

    /// T-1: outbounds and endpoints are tested, nothing else is.
    pub(crate) fn is_testable(&self, id: Id) -> bool {
        let entry = self.get(id);
        entry.alive && matches!(entry.kind, Kind::Outbound | Kind::Endpoint)
    }

    /// All entries in config order.
    pub(crate) fn order(&self) -> &[Id] {
        &self.order
    }

    /// How many numbers were given out.
    pub(crate) fn size(&self) -> usize {
        self.entries.len()
    }

    /// Takes a group's selection; says whether its member for TCP or UDP changed.
    pub(crate) fn select(&mut self, selection: &Selection) -> Option<(Id, Switch)> {
        let id = self
            .find(&selection.group)
            .filter(|&id| self.is_group(id))?;
        // One that is no member is no choice.
        let member = |tag: &Option<String>| {
            let member = self.find(tag.as_deref()?)?;
            self.get(member).parents.contains(&id).then_some(member)
        };
        let (tcp, udp) = (member(&selection.tcp), member(&selection.udp));
        let entry = &mut self.entries[id.index()];
        let switch = Switch {
            tcp: entry.selected != tcp,
            udp: entry.selected_udp != udp,
        };
        entry.selected = tcp;
        entry.selected_udp = udp;
        Some((id, switch))
    }

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
                replaced
                    .problems
                    .push(format!("the tag {:?} stands twice", outbound.tag));
            }
        }
        for id in before.into_iter().filter(|id| !seen.contains(id)) {
            self.retire(id);
            replaced.removed.push(id);
        }
        self.link(&listed, &mut replaced);
        replaced.changed.sort_unstable();
        let unselected: BTreeSet<Id> = selections
            .iter()
            .filter_map(|one| self.find(&one.group))
            .collect();
        for id in self.order.clone() {
            if !unselected.contains(&id) && (self.get(id).selected.is_some()) {
                self.entries[id.index()].selected = None;
                self.entries[id.index()].selected_udp = None;
                replaced.switched.push(id);
            }
        }
        for selection in selections {
            if let Some((id, switch)) = self.select(selection)
                && (switch.tcp || switch.udp)
                && !replaced.added.contains(&id)
            {
                replaced.switched.push(id);
            }
        }
        replaced
    }

    /// Finds or makes the number of an outbound, and takes what concerns it alone.
    fn admit(&mut self, outbound: &Outbound, replaced: &mut Replaced) -> Id {
        if let Some(id) = self.find(&outbound.tag) {
            return id;
        }
        let entry = Entry {
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
            dialed_by: Vec::new(),
            alive: true,
        };
        let tag = entry.tag.clone();
        let id = match self.free.pop() {
            Some(id) => {
                self.entries[id.index()] = entry;
                id
            }
            None => {
                self.entries.push(entry);
                // More than u32::MAX outbounds do not fit into any memory.
                Id(u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX))
            }
        };
        self.by_tag.insert(tag, id);
        replaced.added.push(id);
        id
    }

    fn retire(&mut self, id: Id) {
        let entry = &mut self.entries[id.index()];
        entry.alive = false;
        entry.parents.clear();
        entry.dialed_by.clear();
        entry.members.clear();
        entry.detour = None;
        entry.selected = None;
        let tag = entry.tag.clone();
        self.by_tag.remove(&tag);
        self.free.push(id);
    }

    /// Takes what concerns others: members and detours, in both directions.
    fn link(&mut self, listed: &[Outbound], replaced: &mut Replaced) {
        for id in &self.order {
            let entry = &mut self.entries[id.index()];
            entry.parents.clear();
            entry.dialed_by.clear();
        }
        let added: BTreeSet<Id> = replaced.added.iter().copied().collect();
        for (rank, outbound) in listed.iter().enumerate() {
            let id = self.order[rank];
            let members = self.members(outbound);
            let detour = outbound.detour.as_deref().and_then(|tag| self.find(tag));
            if let (Some(tag), None) = (&outbound.detour, detour) {
                // D-5
                replaced.problems.push(format!(
                    "{:?} names the detour {tag:?}, which is not there",
                    outbound.tag
                ));
            }
            for member in &members {
                self.entries[member.index()].parents.push(id);
            }
            if let Some(detour) = detour {
                self.entries[detour.index()].dialed_by.push(id);
            }
            let entry = &mut self.entries[id.index()];
            if !added.contains(&id) {
                if entry.fingerprint != outbound.fingerprint || entry.kind != outbound.kind {
                    replaced.changed.push(id);
                } else if entry.members != members {
                    replaced.regrouped.push(id);
                }
            }
            entry.rank = u32::try_from(rank).unwrap_or(u32::MAX);
            entry.type_name = Arc::from(outbound.type_name.as_str());
            entry.kind = outbound.kind;
            entry.fingerprint.clone_from(&outbound.fingerprint);
            entry.exit_follows_host = outbound.exit_follows_host;
            entry.members = members;
            entry.detour = detour;
        }
    }

    /// The members that are there, each once.
    fn members(&self, outbound: &Outbound) -> Vec<Id> {
        let mut seen = BTreeSet::new();
        let known = outbound.members.iter().filter_map(|tag| self.find(tag));
        known.filter(|&id| seen.insert(id)).collect()
    }
}

/// Which of a group's selections changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    pub(crate) tcp: bool,
    pub(crate) udp: bool,
}
