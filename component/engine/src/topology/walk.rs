//! Walks over groups and detours; each visits an entry once, so that loops end.
//! It must not change anything.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{Id, Topology};
use crate::input::Kind;

impl Topology {
    /// Where an entry leads to: itself, or for a group the leaf of its selected
    /// member. None for a group that has not chosen, and for a loop.
    pub(crate) fn leaf(&self, id: Id) -> Option<Id> {
        let mut at = id;
        // A path longer than the number of entries is a loop.
        for _ in 0..=self.size() {
            let entry = self.get(at);
            if entry.kind != Kind::Group {
                return Some(at);
            }
            at = entry.selected?;
        }
        None
    }

    /// A group with all its members, nested ones too; an outbound alone.
    pub(crate) fn within(&self, id: Id) -> BTreeSet<Id> {
        let mut seen = BTreeSet::from([id]);
        let mut open = Vec::from([id]);
        while let Some(id) = open.pop() {
            open.extend(
                self.get(id)
                    .members
                    .iter()
                    .copied()
                    .filter(|&member| seen.insert(member)),
            );
        }
        seen
    }

    /// S-9: the testable outbounds of a group, in config order; an outbound itself.
    pub(crate) fn leaves(&self, id: Id) -> Vec<Id> {
        let within = self.within(id);
        let mut leaves: Vec<Id> = within
            .into_iter()
            .filter(|&id| self.is_testable(id))
            .collect();
        leaves.sort_by_key(|&id| self.get(id).rank);
        leaves
    }

    /// Every group that has it as a member, nested ones too.
    pub(crate) fn groups_above(&self, id: Id) -> Vec<Id> {
        self.climb(id, |_, _| true)
    }

    /// The outbounds that dial through an entry: directly, or through a group
    /// whose selection leads to it.
    pub(crate) fn dependents(&self, id: Id) -> Vec<Id> {
        self.dialing(id, |child, group| self.get(group).selected == Some(child))
    }

    /// The outbounds whose gate an entry's result may open (D-2): its dependents,
    /// and those behind a group that has not chosen.
    pub(crate) fn gated_by(&self, id: Id) -> Vec<Id> {
        self.dialing(id, |child, group| {
            self.get(group)
                .selected
                .is_none_or(|selected| selected == child)
        })
    }

    fn dialing(&self, id: Id, follow: impl Fn(Id, Id) -> bool) -> Vec<Id> {
        let mut dialing = self.get(id).dialed_by.clone();
        for group in self.climb(id, follow) {
            dialing.extend(&self.get(group).dialed_by);
        }
        dialing.sort_by_key(|&id| self.get(id).rank);
        dialing.dedup();
        dialing
    }

    /// The groups above, as far as `follow(child, group)` leads.
    fn climb(&self, id: Id, follow: impl Fn(Id, Id) -> bool) -> Vec<Id> {
        let mut seen = BTreeSet::from([id]);
        let mut above = Vec::new();
        let mut open = Vec::from([id]);
        while let Some(child) = open.pop() {
            for &group in &self.get(child).parents {
                if follow(child, group) && seen.insert(group) {
                    above.push(group);
                    open.push(group);
                }
            }
        }
        above
    }
}
