//! Changes of the network (E-4, E-5, N-4) and what they break. It must not know how a
//! change was noticed.

use core::time::Duration;

use super::{Cue, Monitor};
use crate::action::Level;
use crate::board::Urgency;
use crate::demand::{Lane, Waiting};
use crate::report::{Reason, View};
use crate::timers::Timer;
use crate::topology::Id;

/// How long the network must be quiet before all is tested again (E-4).
const SETTLE_TIME: Duration = Duration::from_secs(2);

impl Monitor {
    /// The network changed now: tests that run are of the old one.
    pub(super) fn network_changed(&mut self, reason: Reason) {
        self.log(
            self.journal
                .line(Level::Info, "network_changed")
                .word("reason", reason.as_str()),
        );
        self.life.unsettle(reason);
        self.doubt_own_addresses();
        if self.is_awake() || self.running.any() {
            self.timers.set(Timer::Network, self.now.mono + SETTLE_TIME);
        } else {
            reached!("the network changes while idle");
            // E-5: no wake-up for it; the next activity brings a cycle.
            self.network_settled();
        }
    }

    /// Nothing changed for a while: everything is tested again.
    pub(super) fn network_settled(&mut self) {
        let Some(reason) = self.life.settle() else {
            return;
        };
        for &id in self.topology.order() {
            self.cycle.mark(id);
        }
        for id in self.demand.waiting_for(Waiting::Network) {
            self.demand.release(id);
        }
        if !self.is_awake() {
            return;
        }
        if self.cycle.end() {
            reached!("a cycle is broken off by a change of the network");
            // Its results are of the old network; the new cycle covers all of it.
            self.urls.restore();
            self.saved.call();
            self.log(self.journal.line(Level::Info, "cycle_broken_off"));
        }
        self.cues.push(Cue::Cycle(reason));
    }

    /// A test failed that began before the network changed: nobody learns of the
    /// failure, and it runs again.
    pub(super) fn run_again(&mut self, id: Id) {
        let Some(test) = self.running.remove(id) else {
            return;
        };
        self.log_without_result("again", id, &test);
        let mut want = test.want;
        self.clear_test_timers(id);
        self.show_over(id);
        self.cues.push(Cue::Left(id));
        if want.is_asked() {
            reached!("a broken test that somebody waits for runs again at once");
            // No worker may run now, but those who wait for it are answered.
            want.lane = Lane::Immediate;
        }
        if !self.is_awake() && !want.is_asked() {
            self.cycle.leave(id);
            self.cycle.mark(id);
        } else if self.life.is_unsettled() {
            self.cycle.leave(id);
            reached!("a broken test waits until the network settles");
            self.demand.put_aside(id, want, Waiting::Network);
        } else {
            self.demand.queue(id, want);
        }
    }

    /// I-7: the exit of these outbounds is the host's own address.
    fn doubt_own_addresses(&mut self) {
        for &id in self.topology.order() {
            let record = self.board.edit(id);
            if self.topology.get(id).exit_follows_host
                && record.ip.is_some()
                && !record.ip_from_cache
            {
                reached!("a change of the network makes an own address doubtful");
                record.ip_from_cache = true;
                self.board.touch(id, View::Confirmed, Urgency::Debounced);
            }
        }
    }
}
