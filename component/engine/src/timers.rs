//! Everything that is due at some time, in one ordered table.
//! It must not know what happens when a timer is due.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::topology::Id;
use crate::{Instant, ProbeId, SubscriberId};

/// What can be due. Of two timers of the same instant the earlier in this list
/// comes first: going idle wins over a cycle of that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// Nothing has gone through the core for the idle timeout (N-1).
    Idle,
    /// The network has been quiet since it changed (E-4).
    Network,
    /// The next mark of a staged test (S).
    Mark(Id),
    /// A test's probe has not come back (C-5).
    Stuck(Id),
    /// A follow-up's probe has not come back.
    FollowUp(ProbeId),
    /// An outbound that waited is tried again (D-1, E-6).
    Wait(Id),
    /// The next cycle (C-1).
    Cycle,
    /// Results are written down (P-3).
    Save,
    /// A subscriber's debounce window closes.
    Window(SubscriberId),
}

/// The table: each timer is set at most once.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    order: BTreeSet<(Instant, Timer)>,
    set: BTreeMap<Timer, Instant>,
}

impl Timers {
    /// Sets a timer, instead of an earlier setting of it.
    pub(crate) fn set(&mut self, timer: Timer, at: Instant) {
        self.clear(timer);
        self.order.insert((at, timer));
        self.set.insert(timer, at);
    }

    /// Sets a timer unless it is set.
    pub(crate) fn set_if_clear(&mut self, timer: Timer, at: Instant) {
        if !self.set.contains_key(&timer) {
            self.set(timer, at);
        }
    }

    pub(crate) fn clear(&mut self, timer: Timer) {
        if let Some(at) = self.set.remove(&timer) {
            self.order.remove(&(at, timer));
        }
    }

    /// When a timer is due, if it is set.
    pub(crate) fn at(&self, timer: Timer) -> Option<Instant> {
        self.set.get(&timer).copied()
    }

    /// Takes the first timer that is due.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Timer> {
        let &(at, timer) = self.order.first()?;
        if at > now {
            return None;
        }
        self.clear(timer);
        Some(timer)
    }

    /// When the first timer is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.order.first().map(|&(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_set_again_is_due_once_at_the_later_time() {
        let mut timers = Timers::default();
        timers.set(Timer::Cycle, Instant(5));
        timers.set(Timer::Cycle, Instant(9));
        assert_eq!(timers.pop_due(Instant(8)), None);
        assert_eq!(timers.pop_due(Instant(9)), Some(Timer::Cycle));
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn n1_going_idle_comes_before_a_cycle_of_the_same_instant() {
        let mut timers = Timers::default();
        timers.set(Timer::Cycle, Instant(5));
        timers.set(Timer::Idle, Instant(5));
        assert_eq!(timers.pop_due(Instant(5)), Some(Timer::Idle));
    }
}
