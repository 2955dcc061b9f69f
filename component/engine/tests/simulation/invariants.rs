//! What must hold after every step of any story. It must not look into the engine,
//! only at what it says and does.

use std::collections::BTreeSet;
use std::time::Duration;

use outwatch_engine::{
    AskError, Input, Instant, Kind, Monitor, Now, Options, Probe, ProbeId, Report, State,
    SubscriberId, Ticket, Update, View,
};

use crate::world::Core;

mod lines;
mod probes;
mod reports;
pub(crate) mod saved;
mod told;

use lines::Lines;
use probes::Probes;
use reports::Reports;
use told::Told;

/// How often the engine may ask to be woken at once: each stuck outbound is failed in
/// the next step, one after the other if there is one worker, once for each address, and
/// all again if another cycle was asked for meanwhile (C-3).
const AT_ONCE: u32 = 14 * 3 * 2;

pub(crate) struct Invariants {
    idle_timeout: Duration,
    /// When it falls idle (N-1).
    idle_at: Option<Instant>,
    idle: bool,
    paused: bool,
    asked: BTreeSet<Ticket>,
    lines: Lines,
    probes: Probes,
    told: Told,
    reports: Reports,
    /// Wake-ups that were asked for at once, one after the other.
    at_once: u32,
}

impl Invariants {
    pub(crate) fn new(options: &Options, core: &Core) -> Self {
        Self {
            idle_timeout: options.idle_timeout,
            idle_at: None,
            idle: false,
            paused: false,
            asked: BTreeSet::new(),
            lines: Lines::new(options),
            probes: Probes::new(options),
            told: Told::new(options),
            reports: Reports::new(options, core),
            at_once: 0,
        }
    }

    /// For an engine that takes over from another.
    pub(crate) fn go_on(&mut self, before: &Self) {
        self.idle_at = before.idle_at;
        self.idle = before.idle;
        self.paused = before.paused;
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    /// What the engine is about to hear.
    pub(crate) fn before_step(&mut self, inputs: &[Input], now: Now) {
        if self.idle_at.is_none() {
            self.idle_at = Some(now.mono + self.idle_timeout);
        }
        for input in inputs {
            match input {
                Input::ProbeEnded { probe, .. } => self.probes.ended(*probe),
                Input::Ask { ticket, .. } => drop(self.asked.insert(*ticket)),
                Input::Subscribe { subscriber, filter } => {
                    self.told.subscribed(*subscriber, filter.clone());
                }
                Input::Taken(subscriber) => self.told.taken(*subscriber),
                Input::Unsubscribe(subscriber) => self.told.left(*subscriber),
                Input::Activity
                | Input::ConnectionFailed {
                    cause: outwatch_engine::Cause::Member,
                    ..
                } => self.idle_at = Some(now.mono + self.idle_timeout),
                Input::Outbounds { .. } => {
                    self.told.reloaded();
                    self.reports.reloaded();
                    self.probes.reloaded();
                }
                Input::Pause => self.paused = true,
                Input::Resume => self.paused = false,
                Input::Stop => self.told.stopping(),
                Input::ConnectionFailed { .. }
                | Input::NetworkChanged
                | Input::Selected(_)
                | Input::OutboundReady(_)
                | Input::LogFrom(_) => {}
            }
        }
        self.idle = self.idle_at.is_some_and(|at| at <= now.mono);
    }

    pub(crate) fn sent(&mut self, probe: &Probe, monitor: &Monitor, now: Now, core: &Core) {
        let line = self.lines.announced(probe);
        if let Some(test) = &line {
            // N-1, N-5, S-10
            assert!(
                test.asked || !(self.idle || self.paused),
                "N-1, N-5: {} is tested for {}",
                probe.tag,
                test.reason
            );
        }
        self.probes.sent(probe, line, monitor, now, core);
    }

    pub(crate) fn canceled(&mut self, probe: ProbeId) {
        self.probes.canceled(probe);
    }

    /// A service answered 429 to a lookup: it rests until then (I-7).
    pub(crate) fn tired(&mut self, probe: &Probe, until_ms: u64) {
        self.probes.tired(probe, until_ms);
    }

    pub(crate) fn answered(&mut self, ticket: Ticket, result: &Result<Report, AskError>) {
        assert!(
            self.asked.remove(&ticket),
            "an answer that nobody waits for"
        );
        if let Ok(report) = result {
            assert!(!report.miss && !report.testing, "R-3, S-7");
        }
    }

    pub(crate) fn published(&mut self, id: SubscriberId, update: &Update, now: Now) {
        self.told.published(id, update, now);
    }

    pub(crate) fn logged(&mut self, line: &str) {
        self.lines.logged(line);
    }

    pub(crate) fn wake_at(&mut self, now: Now, wake_at: Option<Instant>) {
        assert!(
            wake_at.is_none_or(|at| at >= now.mono),
            "a wake-up in the past"
        );
        let at_once = wake_at == Some(now.mono);
        self.at_once = if at_once { self.at_once + 1 } else { 0 };
        assert!(self.at_once < AT_ONCE, "a wake-up at once again and again");
    }

    pub(crate) fn after_step(&mut self, monitor: &Monitor, now: Now, core: &Core) {
        self.lines.after_step(monitor, now);
        self.reports.after_step(monitor, now, core);
    }

    /// In a world in which all answers.
    pub(crate) fn all_answered(&self, monitor: &Monitor, now: Now) {
        for report in monitor.reports(View::Confirmed, now) {
            let tested = matches!(report.kind, Kind::Outbound | Kind::Endpoint);
            assert!(
                !tested || report.state == State::Ok,
                "C-1, D-1: no result in time: {report:?}"
            );
        }
    }

    /// Long after the last event.
    pub(crate) fn at_rest(
        &self,
        monitor: &Monitor,
        now: Now,
        wake_at: Option<Instant>,
        core: &Core,
    ) {
        assert_eq!(wake_at, None, "N-1: idle after {:?}", self.idle_timeout);
        assert!(self.asked.is_empty(), "unanswered: {:?}", self.asked);
        self.lines.none_is_open();
        self.probes.at_rest();
        self.told.at_rest(monitor, now, core);
        for report in monitor.reports(View::Display, now) {
            assert!(
                !report.testing && !report.miss && !report.ip_pending,
                "{report:?}"
            );
        }
    }

    pub(crate) fn stopped(&self) {
        assert!(self.asked.is_empty(), "unanswered: {:?}", self.asked);
        self.lines.none_is_open();
        self.probes.none_left();
    }
}
