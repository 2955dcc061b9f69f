//! What a group shows: the one outbound that all its fields come from. A group
//! that has not chosen has its outbounds ranked, so that a change of one of them costs
//! no look at the others. It must not know what a report holds.

use alloc::collections::{BTreeMap, BTreeSet};

use super::{Board, Change};
use crate::record::Record;
use crate::report::{State, View};
use crate::topology::{Id, Topology};

/// What a group showed when it was last looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    pub(crate) via: Option<Id>,
    pub(crate) revision: u64,
    pub(crate) shown_revision: u64,
}

/// A group's look, and how it comes by it.
#[derive(Debug, Default)]
pub(super) struct Face {
    pub(super) look: Look,
    /// Empty for a group that has chosen.
    ranking: Ranking,
}

/// The outbounds among which a group shows the best.
#[derive(Debug, Default)]
struct Ranking {
    places: BTreeMap<Id, Place>,
    order: BTreeSet<(Place, Id)>,
}

/// Where an outbound stands: smaller is better, and before it is the first.
type Place = (Standing, usize);

/// How good an outbound is for a group that has not chosen; smaller is better.
type Standing = (u8, u32);

impl Board {
    /// What a group shows.
    pub(crate) fn look(&self, group: Id) -> Look {
        self.faces
            .get(&group)
            .map(|face| face.look)
            .unwrap_or_default()
    }

    /// A group showed this under an engine before this one.
    pub(crate) fn wear(&mut self, group: Id, look: Look) {
        self.faces.entry(group).or_default().look = look;
    }

    /// The outbound that an entry's result comes from: itself, the leaf of a
    /// group's selection, or the best member of a group that has not chosen.
    pub(super) fn via(&self, topology: &Topology, id: Id) -> Option<Id> {
        let end = topology.end(id)?;
        if topology.is_group(end) {
            self.faces.get(&end)?.ranking.best()
        } else {
            Some(end)
        }
    }

    /// Brings the rankings to what a change left behind.
    pub(super) fn rank_anew(&mut self, topology: &Topology, change: Change) {
        if topology.is_group(change.id) {
            // Where it leads now, those that have not chosen may lead too.
            self.rank(topology, change.id);
            for &group in topology.groups_above(change.id) {
                self.rank(topology, group);
            }
        } else if change.view == View::Confirmed {
            let standing = standing(self.get(change.id));
            for &group in topology.groups_above(change.id) {
                if let Some(face) = self.faces.get_mut(&group) {
                    face.ranking.move_to(change.id, standing);
                }
            }
        }
    }

    /// Ranks all that a group may show.
    pub(super) fn rank(&mut self, topology: &Topology, group: Id) {
        let mut ranking = Ranking::default();
        if topology.get(group).selected.is_none() {
            for id in topology.candidates(group) {
                ranking.push(id, standing(self.get(id)));
            }
        }
        self.faces.entry(group).or_default().ranking = ranking;
    }
}

impl Ranking {
    fn push(&mut self, id: Id, standing: Standing) {
        let place = (standing, self.places.len());
        self.places.insert(id, place);
        self.order.insert((place, id));
    }

    fn move_to(&mut self, id: Id, standing: Standing) {
        if let Some(place) = self.places.get_mut(&id)
            && place.0 != standing
        {
            self.order.remove(&(*place, id));
            place.0 = standing;
            self.order.insert((*place, id));
        }
    }

    fn best(&self) -> Option<Id> {
        self.order.first().map(|&(_, id)| id)
    }
}

fn standing(record: &Record) -> Standing {
    let delay = record.delay_ms().unwrap_or(u32::MAX);
    match record.state() {
        State::Ok => (0, delay),
        State::Cached => (1, delay),
        State::Failed => (2, 0),
        State::NotReady => (3, 0),
        State::Untested => (4, 0),
    }
}
