//! How a member stands, from its confirmed reports (G-4). It must not know the other
//! members.

use jiff::Timestamp;

use crate::report::{Report, State};

/// What a result of an earlier run counts as slower, in milliseconds.
const CACHED_PENALTY_MS: u64 = 20_000;

/// How one member stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    grade: Grade,
    /// The last two measurements of this run, the newest first, as long as none failed.
    recent: [Option<u32>; 2],
    /// What the newest was taken from.
    measured: Option<(Option<Timestamp>, Option<String>)>,
}

/// Whether a member can be used, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Grade {
    /// Untested, failed or not ready.
    #[default]
    Dead,
    /// It worked in an earlier run.
    Cached(u32),
    /// It works.
    Fresh(u32),
}

impl Standing {
    /// Takes a newer report.
    pub(super) fn take(&mut self, report: &Report) {
        self.grade = match (report.state, report.delay_ms) {
            (State::Ok, Some(delay)) => Grade::Fresh(delay),
            (State::Cached, Some(delay)) => Grade::Cached(delay),
            _ => Grade::Dead,
        };
        let Grade::Fresh(delay) = self.grade else {
            self.recent = [None; 2];
            self.measured = None;
            return;
        };
        let measured = Some((report.tested_at, report.via.clone()));
        let [newest, _] = self.recent;
        self.recent = match &self.measured {
            // The same test: its lookup was faster (T-8).
            same if *same == measured => [Some(delay), self.recent[1]],
            Some((_, via)) if *via == report.via => [Some(delay), newest],
            // Of another outbound, if it is a group.
            _ => [Some(delay), None],
        };
        self.measured = measured;
    }

    pub(super) fn grade(&self) -> Grade {
        self.grade
    }

    /// Milliseconds to compare by; none for a dead one.
    pub(super) fn delay(&self) -> Option<u64> {
        match self.grade {
            Grade::Dead => None,
            Grade::Cached(delay) => Some(u64::from(delay) + CACHED_PENALTY_MS),
            Grade::Fresh(delay) => Some(u64::from(delay)),
        }
    }

    /// The same, but for a working one the smaller of its last two measurements: one slow
    /// test under load makes it no worse (G-5).
    pub(super) fn steady_delay(&self) -> Option<u64> {
        let least = self.recent.iter().flatten().min();
        self.delay()
            .map(|delay| least.map_or(delay, |&least| delay.min(u64::from(least))))
    }
}
