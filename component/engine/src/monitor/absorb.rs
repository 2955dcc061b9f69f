//! First phase: takes every input to the room it concerns. It must not start, end or
//! publish anything.

use super::{Cue, Monitor};
use crate::Ticket;
use crate::action::{AskError, Level};
use crate::board::Urgency;
use crate::input::{Cause, Input, Selection};
use crate::life::Stage;
use crate::report::{Reason, View};
use crate::timers::Timer;
use crate::topology::Id;

impl Monitor {
    pub(super) fn absorb(&mut self, input: Input) {
        if self.life.stage() != Stage::Running {
            return;
        }
        match input {
            Input::ProbeEnded { probe, outcome } => self.ended.push((probe, outcome)),
            Input::Ask { ticket, tag } => self.asked(ticket, &tag),
            Input::Subscribe { subscriber, filter } => {
                self.publisher.subscribe(subscriber, filter, &self.topology);
            }
            Input::Taken(subscriber) => self.publisher.taken(subscriber),
            Input::Unsubscribe(subscriber) => {
                self.publisher.unsubscribe(subscriber);
                self.timers.clear(Timer::Window(subscriber));
            }
            Input::LogFrom(least) => self.journal.least = least,
            Input::Activity => self.activity(),
            Input::NetworkChanged => self.network_changed(Reason::Network),
            Input::ConnectionFailed {
                tag,
                group: _,
                cause,
            } => self.connection_failed(&tag, cause),
            Input::Selected(selection) => self.selected(&selection),
            Input::OutboundReady(tag) => self.outbound_ready(&tag),
            Input::Outbounds {
                outbounds,
                selections,
            } => self.install(outbounds, &selections),
            Input::Pause => self.pause(),
            Input::Resume => self.resume(),
            Input::Stop => self.life.enter(Stage::Stopping),
        }
    }

    fn asked(&mut self, ticket: Ticket, tag: &str) {
        let Some(id) = self.topology.find(tag) else {
            return self.asks.refuse(ticket, AskError::UnknownTag);
        };
        self.cues.push(Cue::Asked(ticket, id));
    }

    /// A user's connection went through the core (N-1); what tests open is none (N-3).
    fn activity(&mut self) {
        self.timers
            .set(Timer::Idle, self.now.mono + self.options.idle_timeout);
        if self.life.wake() {
            reached!("activity wakes an idle monitor");
            self.log(self.journal.line(Level::Info, "wake"));
            self.cues.push(Cue::Cycle(Reason::Cycle));
        }
    }

    fn connection_failed(&mut self, tag: &str, cause: Cause) {
        match cause {
            Cause::Member => {}
            // E-8
            Cause::Destination | Cause::Client => return,
        }
        // A connection that fails is a connection too.
        self.activity();
        if let Some(id) = self.topology.find(tag) {
            self.cues.push(Cue::ConnectionFailed(id));
        }
    }

    fn selected(&mut self, selection: &Selection) {
        let Some((group, switch)) = self.topology.select(selection) else {
            return;
        };
        if switch.tcp {
            self.board.touch(group, View::Confirmed, Urgency::AtOnce);
        }
        if switch.tcp || switch.udp {
            let line = self.line(Level::Info, "selected", group);
            let line = line.text("member", selection.tcp.as_deref().unwrap_or_default());
            self.log(line);
            self.cues.push(Cue::Switched(group, switch));
        }
    }

    fn outbound_ready(&mut self, tag: &str) {
        let Some(id) = self
            .topology
            .find(tag)
            .filter(|&id| self.topology.is_testable(id))
        else {
            return;
        };
        self.now_ready(id);
        self.cues.push(Cue::Ready(id));
    }

    /// The core no longer says that an outbound is not ready.
    fn now_ready(&mut self, id: Id) {
        if self.board.edit(id).not_ready.take().is_some() {
            reached!("one that was not ready becomes ready");
            self.board.touch(id, View::Confirmed, Urgency::Debounced);
        }
    }

    fn pause(&mut self) {
        if self.life.pause(true) {
            self.halt();
            self.log(self.journal.line(Level::Info, "pause"));
        }
    }

    fn resume(&mut self) {
        if self.life.pause(false) {
            self.network_changed(Reason::Resume);
        }
    }

    /// Ends scheduled testing; what runs may end, and what was asked for goes on.
    pub(super) fn halt(&mut self) {
        if self.cycle.end() {
            reached!("a cycle is broken off by idleness or a pause");
            self.urls.restore();
            self.saved.call();
            self.log(self.journal.line(Level::Info, "cycle_broken_off"));
        }
        self.cycle.forget_request();
        self.timers.clear(Timer::Cycle);
        for id in self.demand.drop_unasked() {
            reached!("a wanted test is dropped when testing stops");
            self.timers.clear(Timer::Wait(id));
            self.cycle.mark(id);
        }
        for (id, subject) in self.follow_ups.clear_waiting() {
            reached!("a wanted lookup is dropped when testing stops");
            self.show_pending(id, subject, false);
        }
    }
}
