//! Third phase: who should be tested, and why. It must not know whether there is
//! room for a test.

use core::time::Duration;

use super::{Cue, Monitor};
use crate::action::Level;
use crate::board::Urgency;
use crate::demand::{Lane, Waiting, Want};
use crate::followup::Subject;
use crate::gate;
use crate::record::Known;
use crate::report::Reason;
use crate::timers::Timer;
use crate::topology::{Id, Switch};
use crate::{Instant, Ticket};

/// A new selection that worked so recently is not tested again (E-2).
const RECENT: Duration = Duration::from_secs(15);
/// From a failed test to the next one that a failed connection causes (E-6).
const QUIET: Duration = Duration::from_secs(1);

impl Monitor {
    pub(super) fn react(&mut self) {
        for cue in core::mem::take(&mut self.cues) {
            match cue {
                Cue::Started => self.started(),
                Cue::Cycle(reason) => self.cycle.request(reason),
                Cue::Asked(ticket, id) => self.ask(ticket, id),
                Cue::ConnectionFailed(id) => self.suspect(id),
                Cue::Switched(group, switch) => self.switched(group, switch),
                Cue::Ready(id) => self.want(id, Reason::Ready, None),
                Cue::Again(id, reason, lane) => self.again(id, reason, lane),
                Cue::Left(id) => self.open_gates(id),
                Cue::Over { id, ok, recovered } => self.over(id, ok, recovered),
            }
        }
    }

    /// C-1: first what the groups lead to, then a cycle.
    fn started(&mut self) {
        for id in self.topology.order().to_vec() {
            if self.topology.is_group(id)
                && let Some(leaf) = self.topology.leaf(id)
                && !self.demand.contains(leaf)
            {
                self.want(leaf, Reason::Start, None);
            }
        }
        self.cycle.request(Reason::Cycle);
    }

    /// S-9
    fn ask(&mut self, ticket: Ticket, id: Id) {
        if !self.topology.is_alive(id) {
            return self.asks.refuse(ticket, crate::AskError::UnknownTag);
        }
        let leaves = self.topology.leaves(id);
        if leaves.is_empty() {
            reached!("an untestable tag is asked for");
            return self.asks.refuse(ticket, crate::AskError::Untestable);
        }
        self.asks
            .open(ticket, id, leaves.len(), self.topology.is_group(id));
        for leaf in leaves {
            self.want(leaf, Reason::Asked, Some(ticket));
            self.ask_for_gates(leaf);
        }
    }

    /// S-9: asks for what the gate of an outbound waits for, and so on.
    fn ask_for_gates(&mut self, id: Id) {
        let mut at = id;
        while let Some(keeper) = gate::keeper(&self.topology, &self.board, &self.running, at) {
            if self.running.contains(keeper) || self.demand.is_next(keeper) {
                return;
            }
            reached!("a gated outbound asks for what its gate waits for");
            self.want(keeper, Reason::Asked, None);
            at = keeper;
        }
    }

    /// E-1: a connection through it failed.
    fn suspect(&mut self, id: Id) {
        if !self.topology.is_alive(id) {
            return;
        }
        let Some(leaf) = self.topology.leaf(id) else {
            return;
        };
        let failed = self.board.get(leaf).failed.as_ref();
        let quiet_until = failed.map(|failed| failed.at + QUIET);
        match quiet_until.filter(|&until| until > self.now.mono) {
            Some(until) if !self.running.contains(leaf) => self.hold(leaf, until),
            Some(_) | None => self.want(leaf, Reason::ConnectionFailed, None),
        }
    }

    /// E-6: a test that waits until then, unless one comes anyway.
    fn hold(&mut self, id: Id, until: Instant) {
        if self.is_awake() && self.topology.is_testable(id) && !self.demand.contains(id) {
            reached!("a failed connection soon after a failed test waits");
            let want = Want::new(Reason::ConnectionFailed, Lane::Immediate);
            self.demand.put_aside(id, want, Waiting::Quiet);
            self.timers.set(Timer::Wait(id), until);
        }
    }

    /// E-1: a group leads somewhere else.
    fn switched(&mut self, group: Id, switch: Switch) {
        if !self.topology.is_alive(group) {
            return;
        }
        let entry = self.topology.get(group);
        let members = [
            (switch.tcp, entry.selected),
            (switch.udp, entry.selected_udp),
        ];
        for (_, member) in members.into_iter().filter(|(changed, _)| *changed) {
            let Some(leaf) = member.and_then(|member| self.topology.leaf(member)) else {
                continue;
            };
            let ok_at = self.board.get(leaf).ok_at();
            // E-2
            let recent = ok_at.is_some_and(|at| self.now.mono.since(at) <= RECENT);
            if !recent {
                self.want(leaf, Reason::Switched, None);
            }
        }
        if switch.tcp {
            for dependent in self.topology.dependents(group) {
                self.want(dependent, Reason::Depends, None);
            }
        }
    }

    /// A result came: those behind it may have to be tested again.
    fn over(&mut self, id: Id, ok: bool, recovered: bool) {
        if !self.topology.is_alive(id) {
            return;
        }
        self.open_gates(id);
        if ok {
            self.want_follow_ups(id);
        }
        if recovered {
            // D-3
            for dependent in self.topology.dependents(id) {
                if self.board.get(dependent).known() != Known::Nothing {
                    reached!("a recovered outbound has its dependents tested again");
                    self.want(dependent, Reason::Recovered, None);
                }
            }
        }
    }

    /// D-2: a test of what others dial through ended.
    fn open_gates(&mut self, id: Id) {
        for gated in self.topology.gated_by(id) {
            self.follow_ups.release(gated);
            if self.demand.waits_for(gated, Waiting::Gate)
                && gate::is_open(&self.topology, &self.board, &self.running, gated)
            {
                reached!("a result opens a gate");
                self.timers.clear(Timer::Wait(gated));
                self.demand.release(gated);
            }
        }
    }

    /// T-8, V-2: what is still to be learnt of an outbound that works.
    fn want_follow_ups(&mut self, id: Id) {
        for subject in Subject::ALL {
            if self.is_missing(id, subject) {
                self.follow_ups.want(id, subject);
                self.show_pending(id, subject, true);
            }
        }
    }

    /// What another engine had begun is not dropped with it.
    fn again(&mut self, id: Id, reason: Reason, lane: Lane) {
        match lane {
            Lane::Immediate => self.want(id, reason, None),
            Lane::Worker if self.is_awake() => self.demand.want(id, reason, lane, None),
            Lane::Worker => self.cycle.mark(id),
        }
    }

    /// Wants a test on the immediate lane.
    fn want(&mut self, id: Id, reason: Reason, ticket: Option<Ticket>) {
        if !self.topology.is_testable(id) {
            return;
        }
        if let Some(test) = self.running.get_mut(id) {
            reached!("a wish joins a test that runs");
            // E-3; E-1: what it joins becomes as urgent.
            test.urgency = Urgency::AtOnce;
            test.want.tickets.extend(ticket);
            let line = self
                .line(Level::Info, "joined", id)
                .word("reason", reason.as_str());
            return self.log(line);
        }
        if reason != Reason::Asked && !self.is_awake() {
            reached!("a cause that comes while idle marks its outbound");
            return self.cycle.mark(id);
        }
        self.timers.clear(Timer::Wait(id));
        self.demand.want(id, reason, Lane::Immediate, ticket);
    }
}
