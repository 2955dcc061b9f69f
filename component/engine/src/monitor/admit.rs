//! Fourth phase: starts as many of the wanted tests as there is room for. It must
//! not know why they are wanted.

use alloc::vec::Vec;

use super::Monitor;
use crate::action::Level;
use crate::board::Urgency;
use crate::demand::{Lane, Waiting, Want};
use crate::gate;
use crate::record::Known;
use crate::report::{Reason, State, View};
use crate::running::Test;
use crate::stages::Stages;
use crate::timers::Timer;
use crate::topology::Id;

impl Monitor {
    pub(super) fn admit(&mut self) {
        // At most once per test address, and once for a cycle asked for meanwhile.
        loop {
            self.begin_cycle();
            self.fill_immediate_lane();
            self.fill_workers();
            if !self.cycle_goes_on() {
                break;
            }
        }
        self.fill_follow_ups();
    }

    /// Starts the cycle that was asked for, unless one runs (C-3).
    fn begin_cycle(&mut self) {
        if !self.life.cycles_run() {
            return;
        }
        let Some(reason) = self.cycle.take_request() else {
            return;
        };
        let list = self.due_in_order();
        let line = self
            .journal
            .line(Level::Info, "cycle_start")
            .word("reason", reason.as_str())
            .word("outbounds", list.len());
        self.log(line.text("url", &self.urls.current()));
        self.timers
            .set(Timer::Cycle, self.now.mono + self.options.interval);
        self.cycle.start(reason, list, self.now.mono);
    }

    /// C-2: fastest first, then untested, then failed; config order among equals.
    fn due_in_order(&self) -> Vec<Id> {
        let ids = self.topology.order().iter().copied();
        let due =
            ids.filter(|&id| self.topology.is_testable(id) && self.cycle.is_due(id, self.now.mono));
        let key = |id: Id| {
            let record = self.board.get(id);
            match (record.delay_ms(), record.known()) {
                (Some(delay), _) => (0, delay),
                (None, Known::Nothing | Known::Worked) => (1, 0),
                (None, Known::Failed) => (2, 0),
            }
        };
        let mut list: Vec<Id> = due.collect();
        list.sort_by_cached_key(|&id| key(id));
        list
    }

    /// E-7
    fn fill_immediate_lane(&mut self) {
        while self.running.busy(Lane::Immediate) < self.options.immediate_limit {
            let Some((id, want)) = self.demand.pop(Lane::Immediate) else {
                return;
            };
            self.start(id, want);
        }
    }

    /// C-2: a sliding window. Those who come back from waiting go first.
    fn fill_workers(&mut self) {
        while self.life.cycles_run() && self.running.busy(Lane::Worker) < self.options.workers {
            if let Some((id, want)) = self.demand.pop(Lane::Worker) {
                self.cycle.await_result(id);
                self.start(id, want);
            } else if let Some((id, reason)) = self.cycle.next() {
                self.take_turn(id, reason);
            } else {
                return;
            }
        }
    }

    /// The cycle comes to an outbound.
    fn take_turn(&mut self, id: Id, reason: Reason) {
        if !self.topology.is_testable(id) {
            reached!("an outbound went while the cycle ran");
            // It went while the cycle ran.
        } else if self.running.contains(id) || self.demand.is_next(id) {
            reached!("the cycle takes the result of a test that runs");
            // E-3: the cycle takes the result of the test there is.
            self.cycle.await_result(id);
            let line = self.line(Level::Debug, "skipped", id);
            self.log(line.word("reason", reason.as_str()));
        } else if self.demand.contains(id) {
            reached!("the cycle passes over one that waits");
            // D-1: one that waits does not hold the cycle.
            self.cycle.pass_waiting(id);
        } else if self.cycle.is_due(id, self.now.mono) {
            self.cycle.await_result(id);
            self.start(id, Want::new(reason, Lane::Worker));
        } else {
            reached!("the cycle finds a fresh result");
            self.cycle
                .found_fresh(self.board.get(id).state() == State::Ok);
        }
    }

    /// Whether the cycle that is over is followed by another at once: the same with
    /// the next address (C-4), or one that was asked for meanwhile (C-3).
    fn cycle_goes_on(&mut self) -> bool {
        let Some(counts) = self.cycle.over() else {
            return false;
        };
        if counts.ok == 0 && counts.failed > 0 && self.urls.advance() {
            reached!("a cycle without success moves to the next address");
            for id in self.cycle.again() {
                self.cycle.mark(id);
            }
            let line = self
                .journal
                .line(Level::Warn, "next_url")
                .text("url", &self.urls.current());
            self.log(line.word("failed", counts.failed));
            return true;
        }
        if counts.ok > 0 {
            self.urls.keep();
        } else {
            reached!("a cycle without success keeps or restores its address");
            self.urls.restore();
        }
        let line = self
            .journal
            .line(Level::Info, "cycle_end")
            .word("ok", counts.ok)
            .word("failed", counts.failed);
        self.log(
            line.word("waiting", counts.waiting)
                .text("url", &self.urls.current()),
        );
        self.cycle.end();
        // P-3
        self.saved.call();
        self.life.cycles_run() && self.cycle.is_requested()
    }

    /// Starts a test, or puts it aside if the gate of its detour is shut (D-2).
    fn start(&mut self, id: Id, mut want: Want) {
        if !want.is_forced() && !gate::is_open(&self.topology, &self.board, &self.running, id) {
            reached!("a test waits for the gate of its detour");
            want.tries += 1;
            let line = self
                .line(Level::Info, "gated", id)
                .word("reason", want.reason.as_str());
            self.log(line.word("tries", want.tries));
            self.cycle.leave(id);
            return self.put_aside(id, want, Waiting::Gate);
        }
        let now = self.now.mono;
        let known = self.board.get(id).known();
        let asked = want.reason == Reason::Asked;
        let stages = asked.then(|| Stages::new(&self.options.on_demand_timeouts, known, now));
        let urgency = match want.lane {
            Lane::Immediate => Urgency::AtOnce,
            Lane::Worker => Urgency::Debounced,
        };
        self.board.edit(id).testing = true;
        self.board.touch(id, View::Display, urgency);
        if self.running.is_stuck(id) {
            reached!("a stuck outbound is failed without a probe");
            // C-5: failed at once, in the next step.
            self.timers.set(Timer::Stuck(id), now);
        } else if let Some(stages) = &stages {
            self.timers.set(Timer::Mark(id), stages.next_mark());
        } else {
            let timeout = self.options.url_test_timeout;
            self.timers.set(
                Timer::Stuck(id),
                now + timeout.saturating_mul(3) + super::GRACE,
            );
        }
        let test = Test {
            want,
            stages,
            url: self.urls.current(),
            started: now,
            urgency,
            generation: self.life.generation(),
            attempts: 0,
            probe: None,
        };
        self.running.insert(id, test);
        if !self.running.is_stuck(id) {
            self.send_attempt(id);
        }
    }
}
