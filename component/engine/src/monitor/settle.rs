//! Second phase: what ended and what is due. It must not decide that anything is to
//! be tested; it leaves cues for that.

use super::{Cue, Monitor};
use crate::action::{Action, Level};
use crate::report::Reason;
use crate::running::Use;
use crate::timers::Timer;

impl Monitor {
    pub(super) fn settle(&mut self) {
        for (probe, outcome) in core::mem::take(&mut self.ended) {
            match self.running.end_probe(probe) {
                Some(Use::Test(id)) => self.attempt_ended(id, outcome),
                Some(Use::FollowUp(id)) => self.follow_up_ended(id, probe, outcome),
                Some(Use::Abandoned(id)) => {
                    reached!("an abandoned test comes back late");
                    // C-5: its answer counts for nothing.
                    let line = self.line(Level::Info, "late", id);
                    self.log(line);
                }
                // Canceled before.
                None => {}
            }
        }
        while let Some(timer) = self.timers.pop_due(self.now.mono) {
            self.due(timer);
        }
    }

    fn due(&mut self, timer: Timer) {
        match timer {
            Timer::Idle => {
                if self.life.fall_idle() {
                    self.halt();
                    self.log(self.journal.line(Level::Info, "idle"));
                }
            }
            Timer::Network => self.network_settled(),
            Timer::Mark(id) => self.mark_reached(id),
            Timer::Stuck(id) => self.give_up(id),
            Timer::FollowUp(probe) => {
                if let Some(Use::FollowUp(id)) = self.running.end_probe(probe) {
                    reached!("a lookup that never came back is given up");
                    self.actions.push(Action::Cancel(probe));
                    self.follow_up_lost(id, probe);
                }
            }
            Timer::Wait(id) => self.demand.retry(id),
            Timer::Cycle => self.cues.push(Cue::Cycle(Reason::Cycle)),
            Timer::Save => self.saved.call(),
            Timer::Window(subscriber) => self.publisher.window_closed(subscriber),
        }
    }
}
