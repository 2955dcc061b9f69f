//! What the core has: outbounds and groups by number, and who leads or dials where.
//! It must not know results.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::input::{Kind, Selection};

mod replace;
mod walk;

pub(crate) use replace::Replaced;

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
    /// With those that these are members of; none where that adds none.
    ancestors: Option<Box<[Id]>>,
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
}

/// Which of a group's selections changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    pub(crate) tcp: bool,
    pub(crate) udp: bool,
}
