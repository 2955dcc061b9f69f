//! Walks over groups and detours; each visits an entry once, so that loops end.
//! It must not change anything.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::slice;

use super::{Entry, Id, Topology};

impl Topology {
    /// Where an entry leads to: itself, or for a group the leaf of its selected
    /// member. None for a group that has not chosen, and for a loop.
    pub(crate) fn leaf(&self, id: Id) -> Option<Id> {
        self.end(id).filter(|&end| !self.is_group(end))
    }

    /// Where an entry's selections end: at a leaf, or at a group that has not chosen.
    /// None for a loop.
    pub(crate) fn end(&self, id: Id) -> Option<Id> {
        let mut at = id;
        // A path longer than the number of entries is a loop.
        for _ in 0..=self.size() {
            match self.get(at).selected {
                Some(selected) => at = selected,
                None => return Some(at),
            }
        }
        reached!("a loop of groups ends");
        None
    }

    /// The testable outbounds that a group may lead to, in the order of its members:
    /// of a nested group that has chosen, only what it leads to.
    pub(crate) fn candidates(&self, id: Id) -> impl Iterator<Item = Id> {
        self.walk(id, |entry| match &entry.selected {
            Some(selected) => slice::from_ref(selected),
            None => &entry.members,
        })
        .filter(|&id| self.is_testable(id))
    }

    /// A group with all its members, nested ones too; an outbound alone.
    pub(crate) fn within(&self, id: Id) -> impl Iterator<Item = Id> {
        self.walk(id, |entry| &entry.members)
    }

    /// S-9: the testable outbounds of a group, in config order; an outbound itself.
    pub(crate) fn leaves(&self, id: Id) -> Vec<Id> {
        let testable = |&id: &Id| self.is_testable(id);
        let mut leaves: Vec<Id> = self.within(id).filter(testable).collect();
        leaves.sort_by_key(|&id| self.get(id).rank);
        leaves
    }

    /// An entry and all below it, each before what is below it.
    fn walk<'a>(
        &'a self,
        id: Id,
        below: impl Fn(&'a Entry) -> &'a [Id],
    ) -> impl Iterator<Item = Id> {
        let mut seen = BTreeSet::new();
        let mut first = Some(id);
        let mut open: Vec<slice::Iter<'a, Id>> = Vec::new();
        core::iter::from_fn(move || {
            loop {
                let next = first.take().or_else(|| open.last_mut()?.next().copied());
                match next {
                    Some(id) if seen.insert(id) => {
                        open.push(below(self.get(id)).iter());
                        return Some(id);
                    }
                    Some(_) => {}
                    // All below the last one is visited.
                    None => drop(open.pop()?),
                }
            }
        })
    }

    /// Every group that has it as a member, nested ones too.
    pub(crate) fn groups_above(&self, id: Id) -> &[Id] {
        let entry = self.get(id);
        entry.ancestors.as_deref().unwrap_or(&entry.parents)
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
    pub(super) fn climb(&self, id: Id, follow: impl Fn(Id, Id) -> bool) -> Vec<Id> {
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
