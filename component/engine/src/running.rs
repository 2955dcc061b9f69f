//! Tests that run, the probes that are out, and the tests that were given up (C-5).
//! It must not know why a test runs or what comes of it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::board::Urgency;
use crate::demand::{Lane, Want};
use crate::stages::Stages;
use crate::topology::Id;
use crate::{Instant, ProbeId};

/// How many tests of one outbound may be given up and not have come back (C-5).
const ABANDONED_LIMIT: usize = 2;

/// A test that runs.
#[derive(Debug)]
pub(crate) struct Test {
    /// What it was wanted for.
    pub(crate) want: Want,
    /// Marks, if it was asked for; else its one attempt decides.
    pub(crate) stages: Option<Stages>,
    pub(crate) url: Arc<str>,
    pub(crate) started: Instant,
    /// How soon its result is told (E-1).
    pub(crate) urgency: Urgency,
    /// Of the network it started in (E-4).
    pub(crate) generation: u32,
    /// Probes sent.
    pub(crate) attempts: u32,
    /// The attempt that is out.
    pub(crate) probe: Option<ProbeId>,
}

/// What a probe is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A running test of this outbound.
    Test(Id),
    /// An IP lookup or IPv6 check of this outbound.
    FollowUp(Id),
    /// Nothing any more: its test was given up as stuck.
    Abandoned(Id),
}

/// All that runs.
#[derive(Debug, Default)]
pub(crate) struct Running {
    tests: BTreeMap<Id, Test>,
    probes: BTreeMap<ProbeId, Use>,
    abandoned: BTreeMap<Id, BTreeSet<ProbeId>>,
    immediate: u32,
    workers: u32,
    last_probe: u64,
}

impl Running {
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.tests.contains_key(&id)
    }

    pub(crate) fn any(&self) -> bool {
        !self.tests.is_empty()
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut Test> {
        self.tests.get_mut(&id)
    }

    /// How many tests run in a lane.
    pub(crate) fn busy(&self, lane: Lane) -> u32 {
        match lane {
            Lane::Immediate => self.immediate,
            Lane::Worker => self.workers,
        }
    }

    pub(crate) fn insert(&mut self, id: Id, test: Test) {
        *self.count(test.want.lane) += 1;
        self.tests.insert(id, test);
    }

    /// Ends a test; its probe is forgotten with it.
    pub(crate) fn remove(&mut self, id: Id) -> Option<Test> {
        let test = self.tests.remove(&id)?;
        *self.count(test.want.lane) -= 1;
        if let Some(probe) = test.probe {
            self.probes.remove(&probe);
        }
        Some(test)
    }

    /// Keeps an eye on a test's probe that does not come back, and no longer waits
    /// for it.
    pub(crate) fn let_go(&mut self, id: Id) {
        if let Some(test) = self.tests.get_mut(&id)
            && let Some(probe) = test.probe.take()
        {
            self.probes.insert(probe, Use::Abandoned(id));
            self.abandoned.entry(id).or_default().insert(probe);
        }
    }

    /// C-5: as many tests as may be are out and lost.
    pub(crate) fn is_stuck(&self, id: Id) -> bool {
        self.abandoned
            .get(&id)
            .is_some_and(|probes| probes.len() >= ABANDONED_LIMIT)
    }

    /// A new probe's name.
    pub(crate) fn probe(&mut self, of: Use) -> ProbeId {
        self.last_probe += 1;
        let probe = ProbeId(self.last_probe);
        self.probes.insert(probe, of);
        probe
    }

    /// What a probe that ended was for; it is forgotten.
    pub(crate) fn end_probe(&mut self, probe: ProbeId) -> Option<Use> {
        let of = self.probes.remove(&probe)?;
        match of {
            Use::Test(id) => {
                if let Some(test) = self.tests.get_mut(&id) {
                    test.probe = None;
                }
            }
            Use::Abandoned(id) => {
                if let Some(probes) = self.abandoned.get_mut(&id) {
                    probes.remove(&probe);
                    if probes.is_empty() {
                        self.abandoned.remove(&id);
                    }
                }
            }
            Use::FollowUp(_) => {}
        }
        Some(of)
    }

    /// Forgets an outbound's lost probes, and names them.
    pub(crate) fn forget_abandoned(&mut self, id: Id) -> BTreeSet<ProbeId> {
        let probes = self.abandoned.remove(&id).unwrap_or_default();
        for probe in &probes {
            self.probes.remove(probe);
        }
        probes
    }

    /// Every outbound under test.
    pub(crate) fn ids(&self) -> Vec<Id> {
        self.tests.keys().copied().collect()
    }

    /// Every probe that is out.
    pub(crate) fn take_probes(&mut self) -> Vec<ProbeId> {
        core::mem::take(&mut self.probes).into_keys().collect()
    }

    fn count(&mut self, lane: Lane) -> &mut u32 {
        match lane {
            Lane::Immediate => &mut self.immediate,
            Lane::Worker => &mut self.workers,
        }
    }
}
