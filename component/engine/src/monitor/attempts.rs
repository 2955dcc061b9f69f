//! The attempts of a test: sends them, reads how they ended, keeps to the marks.
//! It must not know what a result is good for.

use alloc::format;
use alloc::string::String;

use super::Monitor;
use crate::action::{Action, Level, Probe, Request};
use crate::board::Urgency;
use crate::expect::{self, Reading, TEXT_LIMIT};
use crate::input::{ProbeOutcome, Readiness};
use crate::record::NotReady;
use crate::report::{ErrorKind, Failure, View};
use crate::running::Use;
use crate::stages::{AfterFailure, AtMark, Stages};
use crate::text::clean;
use crate::timers::Timer;
use crate::topology::Id;

impl Monitor {
    /// Sends the next attempt of a running test.
    pub(super) fn send_attempt(&mut self, id: Id) {
        let probe = self.running.probe(Use::Test(id));
        let timeout = self.options.url_test_timeout;
        let Some(test) = self.running.get_mut(id) else {
            return;
        };
        test.attempts += 1;
        test.probe = Some(probe);
        // S-8: the last mark bounds an asked-for test.
        let deadline = test
            .stages
            .as_ref()
            .map_or(timeout, |stages| stages.time_left(self.now.mono));
        let request = Request {
            head: true,
            url: String::from(&*test.url),
            deadline,
            body_limit: 0,
            response_headers: ["location"].into(),
            repeat: self.options.unified_delay,
            ipv6_only: false,
        };
        let forced = test.want.is_forced();
        let line = self.topology.tag(id);
        let line = self.journal.line(Level::Info, "test").text("tag", line);
        let line = line
            .word("reason", test.want.reason.as_str())
            .word("attempt", test.attempts);
        let line = line
            .text("url", &test.url)
            .word("deadline_ms", deadline.as_millis());
        let tag = String::from(self.topology.tag(id));
        self.log(line);
        self.actions.push(Action::Probe(Probe {
            id: probe,
            tag,
            forced,
            request,
        }));
    }

    pub(super) fn attempt_ended(&mut self, id: Id, outcome: ProbeOutcome) {
        let Some(test) = self.running.get_mut(id) else {
            return;
        };
        let deadline = test
            .stages
            .as_ref()
            .map_or(self.options.url_test_timeout, Stages::whole);
        match outcome {
            ProbeOutcome::Answered(answer) => {
                match expect::read(&self.options.expected_status, &test.url, &answer, deadline) {
                    Ok(mut reading) => {
                        reading.warm &= self.options.unified_delay;
                        self.succeed(id, reading);
                    }
                    Err(failure) => self.attempt_failed(id, failure),
                }
            }
            ProbeOutcome::Failed(failure) => {
                let text = clean(&failure.text, TEXT_LIMIT);
                self.attempt_failed(
                    id,
                    Failure {
                        kind: failure.kind,
                        text,
                    },
                );
            }
            ProbeOutcome::NotReady(readiness) => {
                let (text, for_good) = match readiness {
                    Readiness::Ready => (String::new(), false),
                    Readiness::NotReady(text) => (text, false),
                    Readiness::Unsupported(text) => (text, true),
                };
                let text = clean(&text, TEXT_LIMIT);
                if test.want.is_forced() && !for_good {
                    reached!("a forced test finds its outbound not ready still");
                    // It was to be tested anyway (D-1): then this is its result.
                    return self.attempt_failed(
                        id,
                        Failure {
                            kind: ErrorKind::Other,
                            text,
                        },
                    );
                }
                self.not_ready(id, NotReady { text, for_good });
            }
        }
    }

    /// The next mark of a staged test.
    pub(super) fn mark_reached(&mut self, id: Id) {
        let Some(test) = self.running.get_mut(id) else {
            return;
        };
        let Some(stages) = &mut test.stages else {
            return;
        };
        let step = stages.reach_mark();
        let next = stages.next_mark();
        let idle = test.probe.is_none();
        // After a sleep the deadline may have passed as well.
        let late = stages.time_left(self.now.mono).is_zero();
        match step {
            AtMark::Try { miss } => {
                self.timers.set(Timer::Mark(id), next);
                let running = if idle { "no" } else { "yes" };
                let line = self.line(Level::Info, "mark", id).word("running", running);
                self.log(line);
                if miss {
                    self.show_miss(id);
                }
                // S-1: an attempt that runs is left to answer.
                if idle && !late {
                    reached!("a mark tries again");
                    self.send_attempt(id);
                }
            }
            AtMark::Over => {
                if let Some(probe) = test.probe {
                    reached!("the deadline cancels a running attempt");
                    self.actions.push(Action::Cancel(probe));
                }
                let whole = self
                    .options
                    .on_demand_timeouts
                    .last()
                    .copied()
                    .unwrap_or_default();
                let text = format!("no answer within {} ms", whole.as_millis());
                self.end_failed(
                    id,
                    Failure {
                        kind: ErrorKind::Timeout,
                        text,
                    },
                );
            }
        }
    }

    /// C-5: the probe has not come back; it stays out, so that its return is seen.
    pub(super) fn give_up(&mut self, id: Id) {
        let stuck = self.running.is_stuck(id);
        let text = if stuck {
            "earlier tests never came back"
        } else {
            "the test never came back"
        };
        let failure = Failure {
            kind: ErrorKind::Stuck,
            text: String::from(text),
        };
        reached!("a test that never came back is given up");
        self.running.let_go(id);
        self.end_failed(id, failure);
    }

    fn attempt_failed(&mut self, id: Id, failure: Failure) {
        let generation = self.life.generation();
        let Some(test) = self.running.get_mut(id) else {
            return;
        };
        if test.generation == generation
            && let Some(stages) = &mut test.stages
            && let AfterFailure::Wait { miss } = stages.failed()
        {
            reached!("a failed attempt waits for its next mark");
            let wait = stages.next_mark().since(self.now.mono);
            let line = self
                .line(Level::Info, "attempt_failed", id)
                .word("kind", failure.kind.as_str());
            let line = line
                .text("text", &failure.text)
                .word("retry_in_ms", wait.as_millis());
            self.log(line);
            if miss {
                self.show_miss(id);
            }
            return;
        }
        self.end_failed(id, failure);
    }

    /// The last attempt failed (T-6).
    fn end_failed(&mut self, id: Id, failure: Failure) {
        let generation = self.life.generation();
        let Some(test) = self.running.get_mut(id) else {
            return;
        };
        if test.generation != generation {
            reached!("a failure of the network before is not published");
            // E-4
            return self.run_again(id);
        }
        if let Some(test) = self.running.remove(id) {
            self.finish(id, &test, Err(failure));
        }
    }

    /// S-5: however late.
    fn succeed(&mut self, id: Id, reading: Reading) {
        if let Some(test) = self.running.remove(id) {
            self.finish(id, &test, Ok(reading));
        }
    }

    /// S-3, S-4: unavailable for now.
    fn show_miss(&mut self, id: Id) {
        reached!("an outbound is unavailable for now");
        self.board.edit(id).miss = true;
        self.board.touch(id, View::Display, Urgency::AtOnce);
        let line = self.line(Level::Info, "miss", id);
        self.log(line);
    }
}
