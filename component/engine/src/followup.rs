//! The pool of what follows a test that answered (T-9): IP lookups and IPv6 checks,
//! queued, held back and running. It must not know what they find.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::lookup::Way;
use crate::topology::Id;
use crate::{Instant, ProbeId};

/// What is to be learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Subject {
    Ip,
    Ipv6,
}

impl Subject {
    pub(crate) const ALL: [Self; 2] = [Self::Ip, Self::Ipv6];
}

/// One that runs.
#[derive(Clone, Debug)]
pub(crate) struct FollowUp {
    pub(crate) subject: Subject,
    /// The result it belongs to, by the time of that (T-8).
    pub(crate) of: Instant,
    /// The network it started in.
    pub(crate) generation: u32,
    /// Through the services; of no use to an IPv6 check.
    pub(crate) way: Way,
    pub(crate) probe: Option<ProbeId>,
    /// What is being fetched.
    pub(crate) url: Arc<str>,
}

/// All of them; at most one per outbound runs at once.
#[derive(Debug, Default)]
pub(crate) struct FollowUps {
    /// In order of arrival.
    queue: BTreeMap<u64, (Id, Subject)>,
    queued: BTreeMap<(Id, Subject), u64>,
    arrivals: u64,
    /// Those whose detour is being tested (D-2).
    held: BTreeSet<(Id, Subject)>,
    running: BTreeMap<Id, FollowUp>,
}

impl FollowUps {
    /// Queues one, unless there is one.
    pub(crate) fn want(&mut self, id: Id, subject: Subject) {
        let runs = self
            .running
            .get(&id)
            .is_some_and(|running| running.subject == subject);
        let waits = self.queued.contains_key(&(id, subject)) || self.held.contains(&(id, subject));
        if !runs && !waits {
            self.arrivals += 1;
            self.queue.insert(self.arrivals, (id, subject));
            self.queued.insert((id, subject), self.arrivals);
        }
    }

    /// Every one that has not ended.
    pub(crate) fn open(&self) -> BTreeSet<(Id, Subject)> {
        let running = self.running.iter().map(|(&id, one)| (id, one.subject));
        let waiting = self.queued.keys().chain(&self.held).copied();
        running.chain(waiting).collect()
    }

    /// How many run.
    pub(crate) fn busy(&self) -> usize {
        self.running.len()
    }

    /// The next in the queue whose outbound has none running.
    pub(crate) fn pop(&mut self) -> Option<(Id, Subject)> {
        let mut free = self
            .queue
            .iter()
            .filter(|(_, (id, _))| !self.running.contains_key(id));
        let (&arrival, &next) = free.next()?;
        self.queue.remove(&arrival);
        self.queued.remove(&next);
        Some(next)
    }

    /// Puts one aside until its detour has been tested.
    pub(crate) fn hold(&mut self, id: Id, subject: Subject) {
        self.held.insert((id, subject));
    }

    /// Queues what was put aside of an outbound.
    pub(crate) fn release(&mut self, id: Id) {
        for subject in Subject::ALL {
            if self.held.remove(&(id, subject)) {
                self.want(id, subject);
            }
        }
    }

    /// Queues all that was put aside.
    pub(crate) fn release_all(&mut self) {
        for (id, subject) in core::mem::take(&mut self.held) {
            self.want(id, subject);
        }
    }

    pub(crate) fn begin(&mut self, id: Id, follow_up: FollowUp) {
        self.running.insert(id, follow_up);
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut FollowUp> {
        self.running.get_mut(&id)
    }

    pub(crate) fn end(&mut self, id: Id) -> Option<FollowUp> {
        self.running.remove(&id)
    }

    /// N-1: what has not started is dropped; says what it was.
    pub(crate) fn clear_waiting(&mut self) -> BTreeSet<(Id, Subject)> {
        self.queue.clear();
        let mut dropped = core::mem::take(&mut self.held);
        dropped.extend(core::mem::take(&mut self.queued).into_keys());
        dropped
    }

    /// An outbound is gone; gives the probe that is out for it.
    pub(crate) fn forget(&mut self, id: Id) -> Option<ProbeId> {
        for subject in Subject::ALL {
            self.held.remove(&(id, subject));
            if let Some(arrival) = self.queued.remove(&(id, subject)) {
                self.queue.remove(&arrival);
            }
        }
        self.running.remove(&id)?.probe
    }
}
