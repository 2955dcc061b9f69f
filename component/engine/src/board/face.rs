//! What a group shows: the one outbound that all its fields come from.
//! It must not change anything.

use alloc::collections::BTreeSet;

use super::Board;
use crate::report::State;
use crate::topology::{Id, Topology};

/// How good an outbound is for a group that has not chosen; smaller is better.
type Standing = (u8, u32);

impl Board {
    /// The outbound that an entry's result comes from: itself, the leaf of a
    /// group's selection, or the best member of a group that has not chosen.
    pub(crate) fn via(&self, topology: &Topology, id: Id) -> Option<Id> {
        self.via_unseen(topology, id, &mut BTreeSet::new())
    }

    /// Each group is looked into once, so that a loop ends.
    fn via_unseen(&self, topology: &Topology, id: Id, seen: &mut BTreeSet<Id>) -> Option<Id> {
        if !topology.is_group(id) {
            return Some(id);
        }
        if !seen.insert(id) {
            reached!("a loop of groups ends");
            return None;
        }
        let group = topology.get(id);
        if let Some(selected) = group.selected {
            return self.via_unseen(topology, selected, seen);
        }
        let mut best: Option<(Standing, Id)> = None;
        for &member in &group.members {
            let Some(via) = self.via_unseen(topology, member, seen) else {
                continue;
            };
            let standing = self.standing(via);
            if topology.is_testable(via) && best.is_none_or(|(least, _)| standing < least) {
                best = Some((standing, via));
            }
        }
        best.map(|(_, via)| via)
    }

    /// Whether a change of an outbound cannot move a group away from what it shows,
    /// so that a large group need not be looked through for every change in it.
    pub(super) fn cannot_pass(&self, topology: &Topology, changed: Id, shown: Id) -> bool {
        let apart = changed != shown && !topology.is_group(changed);
        apart && self.standing(changed) > self.standing(shown)
    }

    fn standing(&self, id: Id) -> Standing {
        let record = self.get(id);
        let delay = record.delay_ms().unwrap_or(u32::MAX);
        match record.state() {
            State::Ok => (0, delay),
            State::Cached => (1, delay),
            State::Failed => (2, 0),
            State::NotReady => (3, 0),
            State::Untested => (4, 0),
        }
    }
}
