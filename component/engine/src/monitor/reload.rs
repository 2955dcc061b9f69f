//! Takes a list of outbounds, the first or a changed one: what is known of those that
//! stay is kept. It must not know when a test starts.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Cue, Monitor};
use crate::Ticket;
use crate::action::{Action, Level};
use crate::board::Urgency;
use crate::demand::Lane;
use crate::input::{Outbound, Selection};
use crate::report::{Ipv6Source, Reason, View};
use crate::saved;
use crate::timers::Timer;
use crate::topology::{Id, Replaced, Switch};

impl Monitor {
    pub(super) fn install(&mut self, outbounds: Vec<Outbound>, selections: &[Selection]) {
        let before = self.names();
        let scopes = self.publisher.scopes(&self.topology);
        let replaced = self.topology.replace(outbounds, selections);
        self.board.grow(self.topology.size());
        self.cycle.grow(self.topology.size());
        for problem in &replaced.problems {
            self.log(
                self.journal
                    .line(Level::Warn, "outbounds")
                    .text("text", problem),
            );
        }
        let mut gone = BTreeMap::new();
        for (id, tag, key) in before {
            let removed = !self.topology.is_alive(id);
            if removed {
                gone.insert(id, tag);
            }
            if removed || replaced.changed.contains(&id) {
                self.forget(id, key, removed);
            }
        }
        for &id in replaced.added.iter().chain(&replaced.changed) {
            self.welcome(id);
        }
        self.look_at_changes(&replaced);
        self.follow_ups.release_all();
        for opened in self.publisher.rescope(scopes, &gone, &self.topology) {
            self.timers.set(
                Timer::Window(opened),
                self.now.mono + self.options.debounce_window,
            );
        }
        if !replaced.added.is_empty() || !replaced.changed.is_empty() {
            self.cues.push(Cue::Cycle(Reason::Reload));
        }
    }

    /// What an entry is called here and in the saved pairs.
    fn names(&self) -> Vec<(Id, Arc<str>, String)> {
        let name = |&id: &Id| {
            let entry = self.topology.get(id);
            (
                id,
                entry.tag.clone(),
                saved::key(&entry.fingerprint, &entry.tag),
            )
        };
        self.topology.order().iter().map(name).collect()
    }

    /// An outbound is gone, or its tag leads to another server now.
    fn forget(&mut self, id: Id, key: String, removed: bool) {
        let mut tickets = Vec::new();
        if let Some(test) = self.running.remove(id) {
            reached!("an outbound goes while it is tested");
            self.log_without_result("dropped", id, &test);
            self.actions.extend(test.probe.map(Action::Cancel));
            tickets.extend(test.want.tickets);
        }
        if let Some(want) = self.demand.remove(id) {
            tickets.extend(want.tickets);
        }
        if removed {
            self.asks.forget(id);
        }
        if let Some(probe) = self.follow_ups.forget(id) {
            reached!("an outbound goes while it is looked up");
            self.running.end_probe(probe);
            self.timers.clear(Timer::FollowUp(probe));
            self.actions.push(Action::Cancel(probe));
        }
        self.services.forget(id);
        for probe in self.running.forget_abandoned(id) {
            reached!("an outbound goes with tests that never came back");
            self.actions.push(Action::Cancel(probe));
        }
        self.clear_test_timers(id);
        self.timers.clear(Timer::Wait(id));
        self.cycle.forget(id);
        self.saved
            .retire(key, id, self.board.get(id), self.now.wall_ms);
        self.board.forget(id);
        self.pass_tickets_on(id, tickets);
    }

    /// Those who asked about an outbound that went have nothing to wait for; those
    /// about one whose server changed get the new one's result.
    fn pass_tickets_on(&mut self, id: Id, tickets: Vec<Ticket>) {
        if !self.topology.is_testable(id) {
            return self.asks.leaf_over(&tickets, &Ok(()));
        }
        for ticket in tickets {
            reached!("a question passes on to the new server");
            self.demand
                .want(id, Reason::Asked, Lane::Immediate, Some(ticket));
        }
    }

    /// A new outbound, or a new server: what is declared (V-1) and saved of it.
    fn welcome(&mut self, id: Id) {
        let declared = self
            .options
            .ipv6_declared
            .get(self.topology.tag(id))
            .copied();
        let record = self.board.edit(id);
        record.ipv6 = declared.map(|carries| (carries, Ipv6Source::Declared));
        self.saved.restore(&self.topology, id, record);
        self.board.touch(id, View::Confirmed, Urgency::Debounced);
    }

    fn look_at_changes(&mut self, replaced: &Replaced) {
        for &id in replaced.switched.iter().chain(&replaced.altered) {
            self.board.touch(id, View::Confirmed, Urgency::Debounced);
        }
        for &group in &replaced.switched {
            self.cues.push(Cue::Switched(
                group,
                Switch {
                    tcp: true,
                    udp: false,
                },
            ));
        }
        self.board.look_at_groups(&self.topology);
    }
}
