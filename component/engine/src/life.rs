//! Whether testing goes on: activity and idleness (N-1), pauses (N-5), changes of the
//! network (E-4) and sleep (C-6). It must not know what is tested.

use core::time::Duration;

use crate::report::Reason;
use crate::{Instant, Now};

/// Stands at the start of a run: active, not paused, the network settled.
#[derive(Debug)]
pub(crate) struct Life {
    stage: Stage,
    idle: bool,
    paused: bool,
    /// Grows with every change of the network.
    generation: u32,
    /// The network changed, for this reason, and has not settled.
    unsettled: Option<Reason>,
    started: Instant,
    last: Now,
    /// When the engine asked to be woken.
    promised: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    New,
    Running,
    Stopping,
    Stopped,
}

impl Life {
    pub(crate) fn new(now: Now) -> Self {
        Self {
            stage: Stage::New,
            idle: false,
            paused: false,
            generation: 0,
            unsettled: None,
            started: now.mono,
            last: now,
            promised: None,
        }
    }

    /// Goes on with a run that another began at that time.
    pub(crate) fn go_on(&mut self, started: Instant) {
        self.started = started;
        self.stage = Stage::Running;
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    pub(crate) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
    }

    /// Takes the time of a step; says whether the device slept since the last (C-6).
    pub(crate) fn slept(&mut self, now: Now, interval: Duration) -> bool {
        let running = self.stage == Stage::Running;
        let passed = now.mono.since(self.last.mono);
        let passed_wall = Duration::from_millis(now.wall_ms.saturating_sub(self.last.wall_ms));
        let ran_ahead = passed_wall.saturating_sub(passed) > interval;
        let late = self
            .promised
            .is_some_and(|promised| now.mono.since(promised) > interval);
        self.last = now;
        running && (ran_ahead || late)
    }

    pub(crate) fn promise(&mut self, wake_at: Option<Instant>) {
        self.promised = wake_at;
    }

    /// Whole seconds since the start.
    pub(crate) fn second(&self, now: Instant) -> u32 {
        u32::try_from(now.since(self.started).as_secs()).unwrap_or(u32::MAX)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.idle
    }

    /// Says whether that is news.
    pub(crate) fn fall_idle(&mut self) -> bool {
        !core::mem::replace(&mut self.idle, true)
    }

    /// Says whether that is news.
    pub(crate) fn wake(&mut self) -> bool {
        core::mem::replace(&mut self.idle, false)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Says whether that is news.
    pub(crate) fn pause(&mut self, paused: bool) -> bool {
        core::mem::replace(&mut self.paused, paused) != paused
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// The network changed: tests that run now belong to the old one.
    pub(crate) fn unsettle(&mut self, reason: Reason) {
        self.generation += 1;
        self.unsettled = Some(reason);
    }

    pub(crate) fn is_unsettled(&self) -> bool {
        self.unsettled.is_some()
    }

    /// Why all is to be tested once the network has settled.
    pub(crate) fn unsettled(&self) -> Option<Reason> {
        self.unsettled
    }

    pub(crate) fn settle(&mut self) -> Option<Reason> {
        self.unsettled.take()
    }

    /// Cycles run: there is activity, no pause, and the network is settled.
    pub(crate) fn cycles_run(&self) -> bool {
        !self.idle && !self.paused && self.unsettled.is_none()
    }
}
