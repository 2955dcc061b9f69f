//! Tests that are wanted and have not started: the queues of both lanes and those
//! who wait (D-1, E-6, E-7). It must not know who may start.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::Ticket;
use crate::report::Reason;
use crate::topology::Id;

/// How many times an outbound waits before it is tested anyway (D-1).
const TRIES: u32 = 10;

/// In which lane a test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Lane {
    /// At once, beside the workers (E-7).
    Immediate,
    /// In one of the cycle's slots.
    Worker,
}

/// A test that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) reason: Reason,
    pub(crate) lane: Lane,
    /// Those who wait for the answer.
    pub(crate) tickets: Vec<Ticket>,
    /// How often it found the outbound not ready or gated (D-1).
    pub(crate) tries: u32,
}

impl Want {
    pub(crate) fn new(reason: Reason, lane: Lane) -> Self {
        Self {
            reason,
            lane,
            tickets: Vec::new(),
            tries: 0,
        }
    }

    /// Somebody asked for it (S-10): it runs even while idle.
    pub(crate) fn is_asked(&self) -> bool {
        self.reason == Reason::Asked || !self.tickets.is_empty()
    }

    /// D-1: it has waited long enough.
    pub(crate) fn is_forced(&self) -> bool {
        self.tries >= TRIES
    }
}

/// Where a wanted test waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In its lane's queue, under this key.
    Queued((Class, u64)),
    Waiting(Waiting),
}

/// E-7: the order of the immediate lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Asked,
    Caused,
}

/// What a test waits for outside of the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Its outbound to be ready (D-1).
    Ready,
    /// The gate of its detour to open (D-2).
    Gate,
    /// The second after a failed test (E-6).
    Quiet,
    /// The network to settle (E-4).
    Network,
}

/// All that is wanted; at most one test per outbound.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    wants: BTreeMap<Id, (Want, Place)>,
    immediate: BTreeSet<(Class, u64, Id)>,
    workers: BTreeSet<(Class, u64, Id)>,
    arrivals: u64,
}

impl Demand {
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.wants.contains_key(&id)
    }

    /// Whether it is in the immediate lane's queue.
    pub(crate) fn is_next(&self, id: Id) -> bool {
        let want = self.wants.get(&id);
        want.is_some_and(|(want, place)| {
            want.lane == Lane::Immediate && matches!(place, Place::Queued(_))
        })
    }

    pub(crate) fn waits_for(&self, id: Id, what: Waiting) -> bool {
        matches!(self.wants.get(&id), Some((_, Place::Waiting(waiting))) if *waiting == what)
    }

    /// The test that is wanted of an outbound.
    pub(crate) fn get(&self, id: Id) -> Option<&Want> {
        self.wants.get(&id).map(|(want, _)| want)
    }

    /// Wants a test. One that is wanted already takes the stronger lane, and its
    /// count starts again (D-1).
    pub(crate) fn want(&mut self, id: Id, reason: Reason, lane: Lane, ticket: Option<Ticket>) {
        let mut want = self.remove(id).unwrap_or_else(|| Want::new(reason, lane));
        if reason == Reason::Asked || want.reason != Reason::Asked {
            want.reason = reason;
        }
        want.lane = want.lane.min(lane);
        want.tries = 0;
        want.tickets.extend(ticket);
        self.queue(id, want);
    }

    /// Puts a test at the end of its lane's queue.
    pub(crate) fn queue(&mut self, id: Id, want: Want) {
        let class = if want.is_asked() {
            Class::Asked
        } else {
            Class::Caused
        };
        self.arrivals += 1;
        let key = (class, self.arrivals);
        self.lane(want.lane).insert((key.0, key.1, id));
        self.wants.insert(id, (want, Place::Queued(key)));
    }

    /// Puts a test aside.
    pub(crate) fn put_aside(&mut self, id: Id, want: Want, waiting: Waiting) {
        self.wants.insert(id, (want, Place::Waiting(waiting)));
    }

    /// Takes the next one of a lane.
    pub(crate) fn pop(&mut self, lane: Lane) -> Option<(Id, Want)> {
        let (_, _, id) = self.lane(lane).pop_first()?;
        self.wants.remove(&id).map(|(want, _)| (id, want))
    }

    /// The time of waiting is over: a cycle's test is tried again by itself (D-1).
    pub(crate) fn retry(&mut self, id: Id) {
        if let Some((want, _)) = self.wants.get_mut(&id)
            && want.lane == Lane::Worker
        {
            want.reason = Reason::Retry;
        }
        self.release(id);
    }

    /// Ends the waiting of a test.
    pub(crate) fn release(&mut self, id: Id) {
        if let Some((_, Place::Waiting(_))) = self.wants.get(&id)
            && let Some(want) = self.remove(id)
        {
            self.queue(id, want);
        }
    }

    /// All that wait for this.
    pub(crate) fn waiting_for(&self, what: Waiting) -> Vec<Id> {
        let waiting = self
            .wants
            .iter()
            .filter(|(_, (_, place))| *place == Place::Waiting(what));
        waiting.map(|(&id, _)| id).collect()
    }

    /// Drops every test that nobody asked for, and says whose.
    pub(crate) fn drop_unasked(&mut self) -> Vec<Id> {
        let unasked = self.wants.iter().filter(|(_, (want, _))| !want.is_asked());
        let ids: Vec<Id> = unasked.map(|(&id, _)| id).collect();
        for &id in &ids {
            self.remove(id);
        }
        ids
    }

    pub(crate) fn remove(&mut self, id: Id) -> Option<Want> {
        let (want, place) = self.wants.remove(&id)?;
        if let Place::Queued((class, arrival)) = place {
            self.lane(want.lane).remove(&(class, arrival, id));
        }
        Some(want)
    }

    fn lane(&mut self, lane: Lane) -> &mut BTreeSet<(Class, u64, Id)> {
        match lane {
            Lane::Immediate => &mut self.immediate,
            Lane::Worker => &mut self.workers,
        }
    }
}
