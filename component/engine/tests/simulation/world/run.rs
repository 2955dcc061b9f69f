//! How time passes: steps when the engine asks for them or something comes back,
//! restarts and ends. It must not decide what happens.

use outwatch_engine::{Input, Instant, Monitor, Now, Setup, View};

use super::{STEPS_AT_MOST, World};
use crate::invariants::{Invariants, saved};

/// The monotonic clock at the start of a story, in milliseconds.
const ORIGIN_MS: u64 = 5_000;

impl World {
    pub(super) fn now(&self) -> Now {
        Now {
            mono: Instant((self.now_ms + ORIGIN_MS) * 1_000_000),
            wall_ms: self.wall_ms + self.now_ms,
        }
    }

    /// A while without an event: mostly short, so that events meet.
    pub(super) fn pass_time(&mut self) {
        let pause = self.random.pick(&[1, 20, 300, 3_000, 20_000]);
        let pause = self.random.below(pause) + 1;
        self.run_to(self.now_ms + pause);
    }

    pub(super) fn run_to(&mut self, ms: u64) {
        while let Some(next) = self.next().filter(|&next| next <= ms) {
            self.now_ms = next.max(self.now_ms);
            let inputs = self.what_came_back();
            self.step(inputs);
        }
        self.now_ms = ms;
    }

    fn next(&self) -> Option<u64> {
        let wake = self
            .wake_at
            .map(|at| at.0.div_ceil(1_000_000).saturating_sub(ORIGIN_MS));
        let reply = self.coming.keys().next().map(|(at, _)| *at);
        wake.into_iter().chain(reply).min()
    }

    fn what_came_back(&mut self) -> Vec<Input> {
        let mut inputs = Vec::new();
        while let Some(entry) = self.coming.first_entry() {
            let &(at, probe) = entry.key();
            if at > self.now_ms {
                break;
            }
            let outcome = entry.remove();
            self.over.push(probe);
            inputs.push(Input::ProbeEnded { probe, outcome });
        }
        inputs
    }

    pub(super) fn step(&mut self, inputs: Vec<Input>) {
        self.steps += 1;
        assert!(self.steps < STEPS_AT_MOST, "it never comes to rest");
        let now = self.now();
        for input in &inputs {
            self.say(|_| format!("< {input:?}"));
            self.core.take(input);
        }
        self.check.before_step(&inputs, now);
        let outcome = self.monitor.step(now, inputs);
        self.check.wake_at(now, outcome.wake_at);
        self.wake_at = outcome.wake_at;
        for action in outcome.actions {
            self.say(|_| format!("> {action:?}"));
            self.carry_out(action);
        }
        self.check.after_step(&self.monitor, now, &self.core);
    }

    /// The monitor ends in order; nothing follows.
    pub(super) fn stop(&mut self) {
        self.step(vec![Input::Stop]);
        self.check.stopped();
        self.run_to(self.now_ms + 60_000);
        let outcome = self.monitor.step(self.now(), [Input::Activity]);
        assert!(outcome.actions.is_empty() && outcome.wake_at.is_none());
    }

    /// A new monitor on what the old one saved before it ended in order.
    pub(super) fn restart(&mut self) {
        let old = std::mem::replace(
            &mut self.monitor,
            Monitor::new(Setup::default(), Now::default()),
        );
        self.leave();
        self.make();
        saved::survived(&old, &self.monitor, self.now());
    }

    /// A new monitor takes over from the old one, which has ended in order; says whether
    /// the host has to tell it of a pause.
    pub(super) fn replace(&mut self) -> bool {
        let given = self.monitor.hand_over();
        let views = [View::Confirmed, View::Display];
        let before = views.map(|view| self.monitor.reports(view, self.now()));
        self.leave();
        let check = std::mem::replace(&mut self.check, Invariants::new(&self.options, &self.core));
        self.make();
        self.check.go_on(&check);
        let taken = self.monitor.take_over(&given, self.now());
        assert_eq!(taken, Ok(()));
        let after = views.map(|view| self.monitor.reports(view, self.now()));
        assert_eq!(after, before, "nobody notices");
        check.is_paused()
    }

    /// Everyone who had to do with the old monitor is gone.
    pub(super) fn leave(&mut self) {
        self.coming.clear();
        self.over.clear();
        self.untaken.clear();
        self.wake_at = None;
    }
}
