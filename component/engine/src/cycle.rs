//! Cycles (C): who is due, in which order, and how the round goes. It must not know
//! how a test is done.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use crate::Instant;
use crate::report::Reason;
use crate::topology::Id;

/// The time of an outbound that is marked for testing: always in the past.
const MARKED: Instant = Instant(0);

/// When each outbound is due, and the round that runs.
#[derive(Debug, Default)]
pub(crate) struct Cycle {
    /// By number.
    due_at: Vec<Instant>,
    round: Option<Round>,
    /// C-3: another cycle was asked for while one ran.
    requested: Option<Reason>,
}

/// A cycle that runs.
#[derive(Debug)]
struct Round {
    reason: Reason,
    started: Instant,
    /// All it covers, in order.
    list: Vec<Id>,
    /// How many of them had their turn.
    next: usize,
    /// Those whose result is awaited.
    open: BTreeSet<Id>,
    /// Those put aside: gated or not ready.
    aside: BTreeSet<Id>,
    /// Results with the current address.
    ok: u32,
    failed: u32,
}

/// How a round went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) ok: u32,
    pub(crate) failed: u32,
    /// Put aside: gated or not ready.
    pub(crate) waiting: u32,
}

impl Cycle {
    /// Makes room for every number; new ones are marked.
    pub(crate) fn grow(&mut self, size: usize) {
        self.due_at.resize(size, MARKED);
    }

    pub(crate) fn mark(&mut self, id: Id) {
        self.due_at[id.index()] = MARKED;
    }

    pub(crate) fn due_at(&self, id: Id) -> Instant {
        self.due_at[id.index()]
    }

    pub(crate) fn set_due(&mut self, id: Id, at: Instant) {
        self.due_at[id.index()] = at;
    }

    /// C-2: marked, or the result is older than the interval.
    pub(crate) fn is_due(&self, id: Id, now: Instant) -> bool {
        self.due_at[id.index()] <= now
    }

    /// An outbound was tested. A result is as old as the cycle that it belongs to,
    /// so that the next cycle, one interval after the start of this one, finds all
    /// of this one's results due.
    pub(crate) fn tested(&mut self, id: Id, started: Instant, by_worker: bool, interval: Duration) {
        let since = match &self.round {
            Some(round) if by_worker => round.started,
            Some(_) | None => started,
        };
        self.due_at[id.index()] = since + interval;
    }

    /// Asks for a cycle; the strongest wish is a change, not the clock.
    pub(crate) fn request(&mut self, reason: Reason) {
        if self
            .requested
            .is_none_or(|earlier| earlier == Reason::Cycle)
        {
            self.requested = Some(reason);
        }
    }

    /// Takes the request if no cycle runs.
    pub(crate) fn take_request(&mut self) -> Option<Reason> {
        if self.round.is_some() {
            None
        } else {
            self.requested.take()
        }
    }

    pub(crate) fn forget_request(&mut self) {
        self.requested = None;
    }

    pub(crate) fn start(&mut self, reason: Reason, list: Vec<Id>, now: Instant) {
        self.round = Some(Round {
            reason,
            started: now,
            list,
            next: 0,
            open: BTreeSet::new(),
            aside: BTreeSet::new(),
            ok: 0,
            failed: 0,
        });
    }

    pub(crate) fn is_running(&self) -> bool {
        self.round.is_some()
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.requested.is_some()
    }

    /// Whose turn it is, and why.
    pub(crate) fn next(&mut self) -> Option<(Id, Reason)> {
        let round = self.round.as_mut()?;
        let id = round.list.get(round.next).copied()?;
        round.next += 1;
        Some((id, round.reason))
    }

    /// Awaits the result of a test, whoever started it.
    pub(crate) fn await_result(&mut self, id: Id) {
        if let Some(round) = &mut self.round {
            round.aside.remove(&id);
            round.open.insert(id);
        }
    }

    /// A result came.
    pub(crate) fn landed(&mut self, id: Id, ok: bool) {
        if let Some(round) = &mut self.round
            && round.open.remove(&id)
        {
            round.count(ok);
        }
    }

    /// One whose turn it was has a result that is fresh enough.
    pub(crate) fn found_fresh(&mut self, ok: bool) {
        if let Some(round) = &mut self.round {
            round.count(ok);
        }
    }

    /// A test was put aside or dropped: it does not hold the cycle (D-1).
    pub(crate) fn leave(&mut self, id: Id) {
        if let Some(round) = &mut self.round
            && round.open.remove(&id)
        {
            round.aside.insert(id);
        }
    }

    /// One whose turn it was waits already.
    pub(crate) fn pass_waiting(&mut self, id: Id) {
        if let Some(round) = &mut self.round {
            round.aside.insert(id);
        }
    }

    /// How the round went, once everyone had a turn and no result is awaited.
    pub(crate) fn over(&self) -> Option<Counts> {
        let round = self.round.as_ref()?;
        (round.next >= round.list.len() && round.open.is_empty()).then(|| round.counts())
    }

    /// C-4: the same again, with another address; gives those it covers.
    pub(crate) fn again(&mut self) -> Vec<Id> {
        let Some(round) = &mut self.round else {
            return Vec::new();
        };
        round.reason = Reason::NextUrl;
        round.next = 0;
        round.aside.clear();
        (round.ok, round.failed) = (0, 0);
        round.list.clone()
    }

    /// Ends the round; says whether there was one.
    pub(crate) fn end(&mut self) -> bool {
        self.round.take().is_some()
    }

    /// An outbound is gone; its place in the list is passed over when it comes.
    pub(crate) fn forget(&mut self, id: Id) {
        self.mark(id);
        if let Some(round) = &mut self.round {
            round.open.remove(&id);
            round.aside.remove(&id);
        }
    }
}

impl Round {
    fn count(&mut self, ok: bool) {
        if ok {
            self.ok += 1;
        } else {
            self.failed += 1;
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            ok: self.ok,
            failed: self.failed,
            waiting: u32::try_from(self.aside.len()).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(300);

    fn cycle_of(list: &[u32], now: Instant) -> Cycle {
        let mut cycle = Cycle::default();
        cycle.grow(8);
        cycle.start(Reason::Cycle, list.iter().copied().map(Id).collect(), now);
        cycle
    }

    #[test]
    fn c2_a_result_of_the_last_cycle_is_due_in_the_next() {
        let start = Instant(1_000);
        let mut cycle = cycle_of(&[1], start);
        cycle.tested(Id(1), Instant(90_000_000_000), true, INTERVAL);
        assert!(cycle.is_due(Id(1), start + INTERVAL));
        cycle.tested(Id(1), Instant(90_000_000_000), false, INTERVAL);
        assert!(!cycle.is_due(Id(1), start + INTERVAL));
    }

    #[test]
    fn c3_requests_while_a_cycle_runs_become_one() {
        let mut cycle = cycle_of(&[], Instant(0));
        cycle.request(Reason::Cycle);
        cycle.request(Reason::Network);
        cycle.request(Reason::Cycle);
        assert_eq!(cycle.take_request(), None);
        cycle.end();
        assert_eq!(cycle.take_request(), Some(Reason::Network));
        assert_eq!(cycle.take_request(), None);
    }

    #[test]
    fn d1_one_that_waits_does_not_hold_the_cycle() {
        let mut cycle = cycle_of(&[1, 2], Instant(0));
        for _ in 0..2 {
            let (id, _) = cycle.next().unwrap();
            cycle.await_result(id);
        }
        cycle.landed(Id(1), true);
        assert!(cycle.over().is_none());
        cycle.leave(Id(2));
        let counts = cycle.over().unwrap();
        assert_eq!((counts.ok, counts.waiting), (1, 1));
    }

    #[test]
    fn d1_one_that_comes_back_in_time_does_not_count_as_waiting() {
        let mut cycle = cycle_of(&[1], Instant(0));
        let (id, _) = cycle.next().unwrap();
        cycle.await_result(id);
        cycle.leave(id);
        cycle.await_result(id);
        cycle.landed(id, true);
        let counts = cycle.over().unwrap();
        assert_eq!((counts.ok, counts.waiting), (1, 0));
    }
}
