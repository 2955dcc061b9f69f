//! One monitor from its start to its stop, and what is on its way to it. It must not
//! step the monitor.

use std::collections::BTreeMap;

use outwatch_engine::{Input, Instant, Monitor, Now, ProbeId, ProbeOutcome, Ticket};

use crate::parity::world::World;
use crate::parity::{FetchKey, Times};

/// The host lets activity through once in this time (N-2).
const ACTIVITY_EVERY: u64 = 1000;

/// The host looks for a sleep of the device in this time while the monitor waits, and
/// takes it for one when the wall clock ran ahead by more than that (C-6).
const LOOK_EVERY: u64 = 10_000;
const JUMP: u64 = 1_000;

/// When the monitor is to be woken.
#[derive(Clone, Copy)]
pub(super) struct Alarm {
    at: u64,
    /// When it was set, and how far the wall clock was ahead then.
    set: u64,
    ahead: u64,
}

impl Alarm {
    /// When it rings, as it stands now: a sleep of the device is found at the next look.
    pub(super) fn rings_at(self, now: u64, world: &World) -> u64 {
        if world.wall_ahead <= self.ahead + JUMP {
            return self.at;
        }
        let looks = now.saturating_sub(self.set) / LOOK_EVERY + 1;
        self.at.min(self.set + looks * LOOK_EVERY)
    }

    /// Whether the host looks then.
    pub(super) fn looks_at(self, at: u64) -> bool {
        at.saturating_sub(self.set).is_multiple_of(LOOK_EVERY)
    }
}

/// One monitor from its start to its stop.
pub(super) struct Run {
    pub(super) monitor: Monitor,
    pub(super) began: u64,
    pub(super) inbox: Vec<Input>,
    /// Comes into the inbox once the loop waits.
    pub(super) later: Vec<Input>,
    pub(super) alarm: Option<Alarm>,
    /// By their end; two never end in one millisecond.
    pub(super) coming: BTreeMap<u64, Coming>,
    /// They never end.
    pub(super) lost: BTreeMap<ProbeId, String>,
    /// Which test of the script was asked for with which ticket.
    pub(super) tickets: BTreeMap<Ticket, usize>,
    pub(super) first_reader: usize,
    last_id: u64,
    last_activity: Option<u64>,
}

pub(super) struct Coming {
    pub(super) probe: ProbeId,
    pub(super) key: FetchKey,
    pub(super) outcome: ProbeOutcome,
}

impl Run {
    pub(super) fn new(monitor: Monitor, began: u64, first_reader: usize) -> Self {
        Self {
            monitor,
            began,
            inbox: Vec::new(),
            later: Vec::new(),
            alarm: None,
            coming: BTreeMap::new(),
            lost: BTreeMap::new(),
            tickets: BTreeMap::new(),
            first_reader,
            last_id: 0,
            last_activity: None,
        }
    }

    /// The clocks as this monitor reads them.
    pub(super) fn clocks(&self, now: u64, world: &World) -> Now {
        Now {
            mono: Instant((now - self.began) * 1_000_000),
            wall_ms: world.wall_ms(now),
        }
    }

    /// A fetch will end at `end`, or in the next millisecond in which no other does.
    pub(super) fn expect(&mut self, coming: Coming, mut end: u64, times: &mut Times) {
        while self.coming.contains_key(&end) {
            end += 1;
        }
        times.fetches.insert(coming.key.clone(), end);
        self.coming.insert(end, coming);
    }

    /// As the component does: an earlier alarm than needed is kept.
    pub(super) fn set_alarm(&mut self, wake_at: Option<Instant>, now: u64, world: &World) {
        let alarm = wake_at.map(|at| Alarm {
            at: self.began + at.0.div_ceil(1_000_000),
            set: now,
            ahead: world.wall_ahead,
        });
        self.alarm = match (alarm, self.alarm) {
            (Some(alarm), Some(set)) if set.at <= alarm.at => Some(set),
            (alarm, _) => alarm,
        };
    }

    /// Whether the alarm is due at once; then no reader comes before it.
    pub(super) fn rings(&mut self, now: u64) -> bool {
        self.alarm.take_if(|alarm| alarm.at <= now).is_some()
    }

    pub(super) fn has_heard_of_activity(&mut self, now: u64) -> bool {
        let heard = self
            .last_activity
            .is_some_and(|last| now - last < ACTIVITY_EVERY);
        if !heard {
            self.last_activity = Some(now);
        }
        heard
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
