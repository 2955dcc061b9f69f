//! The end of a test: its result goes to the board, those who wait for it get it,
//! and a cue is left for what it brings about. It must not send anything.

use core::time::Duration;

use super::{Cue, Monitor};
use crate::action::{AskError, Level};
use crate::board::Urgency;
use crate::demand::{Lane, Waiting, Want};
use crate::expect::Reading;
use crate::record::{Failed, Known, NotReady, Success};
use crate::report::{DelaySource, Failure, Reason, View};
use crate::running::Test;
use crate::timers::Timer;
use crate::topology::Id;

/// How long one that is not ready or gated waits before it is tried again (D-1).
const WAIT: Duration = Duration::from_secs(3);
/// How long after a result it is saved (P-3).
const SAVE_DELAY: Duration = Duration::from_secs(1);

impl Monitor {
    /// Takes the result of a test that is over; what else is to be learnt of the
    /// outbound follows later (T-7).
    pub(super) fn finish(&mut self, id: Id, test: &Test, result: Result<Reading, Failure>) {
        self.clear_test_timers(id);
        self.show_over(id);
        let ok = result.is_ok();
        let recovered = self.record(id, test, result);
        self.board.touch(id, View::Confirmed, test.urgency);
        self.cycle.landed(id, ok);
        if test.generation == self.life.generation() {
            let by_worker = test.want.lane == Lane::Worker;
            self.cycle
                .tested(id, test.started, by_worker, self.options.interval);
        } else if !self.life.is_unsettled() && self.is_awake() {
            reached!("a success of the network before is tested again");
            // E-4: it answered, but in the network before.
            self.demand.want(id, Reason::Network, Lane::Worker, None);
        }
        if ok {
            self.keep(id, test.urgency);
        }
        self.asks.leaf_over(&test.want.tickets, &Ok(()));
        self.cues.push(Cue::Over { id, ok, recovered });
    }

    /// Writes a result on the board and into the log; says whether the outbound works
    /// again after failing (D-3).
    fn record(&mut self, id: Id, test: &Test, result: Result<Reading, Failure>) -> bool {
        let second = self.life.second(self.now.mono);
        let line = self
            .line(Level::Info, "result", id)
            .word("reason", test.want.reason.as_str());
        let line = line.word("attempts", test.attempts);
        let record = self.board.edit(id);
        let failed_before = record.known() == Known::Failed;
        record.not_ready = None;
        record.reason = Some(test.want.reason);
        record.attempts = test.attempts;
        let line = match result {
            Ok(reading) => {
                record.ring.push(second, Ok(reading.delay_ms));
                record.failed = None;
                record.success = Some(Success {
                    delay_ms: reading.delay_ms,
                    source: DelaySource::Url,
                    warm: reading.warm,
                    url: test.url.clone(),
                    at: Some(self.now.mono),
                    wall_ms: self.now.wall_ms,
                });
                line.word("state", "ok").word("delay_ms", reading.delay_ms)
            }
            Err(failure) => {
                record.ring.push(second, Err(failure.kind));
                let line = line
                    .word("state", "failed")
                    .word("kind", failure.kind.as_str());
                let line = line.text("text", &failure.text);
                record.failed = Some(Failed {
                    failure,
                    url: test.url.clone(),
                    at: self.now.mono,
                    wall_ms: self.now.wall_ms,
                });
                line
            }
        };
        let recovered = failed_before && record.failed.is_none();
        self.log(line);
        recovered
    }

    /// The core says that the outbound cannot be tested (D-1, D-6).
    pub(super) fn not_ready(&mut self, id: Id, not_ready: NotReady) {
        let Some(test) = self.running.remove(id) else {
            return;
        };
        self.clear_test_timers(id);
        self.show_over(id);
        self.cues.push(Cue::Left(id));
        let line = self
            .line(Level::Info, "not_ready", id)
            .word("reason", test.want.reason.as_str());
        let line = line.text("text", &not_ready.text);
        self.log(line);
        // S-9
        let answer = Err(AskError::NotReady(not_ready.text.clone()));
        let mut want = test.want;
        self.asks
            .leaf_over(&core::mem::take(&mut want.tickets), &answer);
        self.cycle.leave(id);
        let for_good = not_ready.for_good;
        if self.board.get(id).not_ready.as_ref() != Some(&not_ready) {
            self.board.edit(id).not_ready = Some(not_ready);
            self.board.touch(id, View::Confirmed, Urgency::Debounced);
        }
        if for_good {
            return;
        }
        if self.is_awake() || want.reason == Reason::Asked {
            reached!("one that is not ready is put aside");
            want.tries += 1;
            self.put_aside(id, want, Waiting::Ready);
        } else {
            self.cycle.mark(id);
        }
    }

    /// A test ends without a result. One that never began, since earlier ones are lost
    /// (C-5), was not announced either.
    pub(super) fn log_without_result(&mut self, event: &str, id: Id, test: &Test) {
        if test.attempts > 0 {
            let line = self.line(Level::Info, event, id);
            self.log(line.word("reason", test.want.reason.as_str()));
        }
    }

    /// Tries a test again in a while.
    pub(super) fn put_aside(&mut self, id: Id, want: Want, waiting: Waiting) {
        self.timers.set(Timer::Wait(id), self.now.mono + WAIT);
        self.demand.put_aside(id, want, waiting);
    }

    /// People no longer see that a test runs, nor its miss.
    pub(super) fn show_over(&mut self, id: Id) {
        let record = self.board.edit(id);
        if record.testing || record.miss {
            record.testing = false;
            record.miss = false;
            self.board.touch(id, View::Display, Urgency::Debounced);
        }
    }

    /// What is saved of an outbound changed (P-3).
    pub(super) fn keep(&mut self, id: Id, urgency: Urgency) {
        self.saved.touch(id);
        // The end of a cycle saves what the cycle found.
        if urgency == Urgency::AtOnce || !self.cycle.is_running() {
            self.timers
                .set_if_clear(Timer::Save, self.now.mono + SAVE_DELAY);
        }
    }

    pub(super) fn clear_test_timers(&mut self, id: Id) {
        self.timers.clear(Timer::Mark(id));
        self.timers.clear(Timer::Stuck(id));
    }
}
