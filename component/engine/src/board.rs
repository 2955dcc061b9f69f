//! The one place for results, and the list of what changed in it. It must not know
//! who is told about a change.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::record::Record;
use crate::report::View;
use crate::topology::{Id, Topology};

mod face;
mod reports;

use face::Face;
pub(crate) use face::Look;

/// All results, by number. Groups have a face instead of a record of their own.
#[derive(Debug, Default)]
pub(crate) struct Board {
    records: Vec<Record>,
    faces: BTreeMap<Id, Face>,
    /// Grows with every change of anything.
    revision: u64,
    changes: Vec<Change>,
}

/// Something that subscribers may want to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) id: Id,
    /// `Display` if the confirmed view is as it was.
    pub(crate) view: View,
    /// past the debounce window.
    pub(crate) urgency: Urgency,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    Debounced,
    AtOnce,
}

impl Board {
    /// Makes room for every number of the topology.
    pub(crate) fn grow(&mut self, size: usize) {
        self.records.resize_with(size, Record::default);
    }

    pub(crate) fn get(&self, id: Id) -> &Record {
        &self.records[id.index()]
    }

    /// For changing a record; say so with [`Board::touch`].
    pub(crate) fn edit(&mut self, id: Id) -> &mut Record {
        &mut self.records[id.index()]
    }

    /// Forgets all about an entry.
    pub(crate) fn forget(&mut self, id: Id) {
        // The revision goes on growing, also for the next owner of the number.
        let revision = self.next_revision();
        self.records[id.index()] = Record {
            revision,
            ..Record::default()
        };
        self.faces.remove(&id);
    }

    /// Notes a change of what a view shows of an entry.
    pub(crate) fn touch(&mut self, id: Id, view: View, urgency: Urgency) {
        let revision = self.next_revision();
        let record = self.edit(id);
        match view {
            View::Confirmed => record.revision = revision,
            View::Display => record.shown_revision = revision,
        }
        self.changes.push(Change { id, view, urgency });
    }

    /// The changes since the last call, and with them those of every group that
    /// shows something else now. Each entry stands once per view.
    pub(crate) fn take_changes(&mut self, topology: &Topology) -> Vec<Change> {
        let mut taken = core::mem::take(&mut self.changes);
        taken.retain(|change| topology.is_alive(change.id));
        for &change in &taken {
            self.rank_anew(topology, change);
        }
        let mut changes = Vec::with_capacity(taken.len());
        for change in taken {
            if topology.is_group(change.id) {
                self.turn_face(change, self.via(topology, change.id));
            }
            changes.push(change);
            for &group in topology.groups_above(change.id) {
                if let Some((view, via)) = self.shown_change(topology, group, change) {
                    let change = Change {
                        id: group,
                        view,
                        ..change
                    };
                    self.turn_face(change, via);
                    changes.push(change);
                }
            }
        }
        // The most urgent of the same first, which stays.
        changes.sort_unstable_by_key(|change| (change.id, change.view, Reverse(change.urgency)));
        changes.dedup_by_key(|change| (change.id, change.view));
        changes
    }

    /// After a change of the outbounds: learns what every new group shows, so that only
    /// what differs from it is news, and notes the groups that show another now.
    pub(crate) fn look_at_groups(&mut self, topology: &Topology) {
        let is_group = |&id: &Id| topology.is_group(id);
        let groups: Vec<Id> = topology.order().iter().copied().filter(is_group).collect();
        let is_new = |group: &Id| !self.faces.contains_key(group);
        let new: BTreeSet<Id> = groups.iter().copied().filter(is_new).collect();
        for &group in &groups {
            self.rank(topology, group);
        }
        for group in groups {
            let via = self.via(topology, group);
            let face = self.faces.entry(group).or_default();
            if new.contains(&group) {
                face.look.via = via;
            } else if face.look.via != via {
                self.touch(group, View::Confirmed, Urgency::Debounced);
            }
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Goes on counting from there; what changed before is no news.
    pub(crate) fn go_on(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
        self.changes.clear();
    }

    /// In which view a group looks different after a change of an entry below it, and
    /// what it shows then.
    fn shown_change(
        &self,
        topology: &Topology,
        group: Id,
        change: Change,
    ) -> Option<(View, Option<Id>)> {
        let before = self.faces.get(&group).and_then(|face| face.look.via);
        let via = self.via(topology, group);
        if via != before {
            return Some((View::Confirmed, via));
        }
        (via == Some(change.id)).then_some((change.view, via))
    }

    fn turn_face(&mut self, change: Change, via: Option<Id>) {
        let revision = self.next_revision();
        let look = &mut self.faces.entry(change.id).or_default().look;
        look.via = via;
        match change.view {
            View::Confirmed => look.revision = revision,
            View::Display => look.shown_revision = revision,
        }
    }

    fn next_revision(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }
}
