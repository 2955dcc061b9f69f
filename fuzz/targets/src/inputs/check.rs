//! What must hold in any story, as far as it can be seen from outside. It must not look
//! into the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use outwatch_engine::{
    Filter, Instant, Monitor, Now, Options, Probe, ProbeId, Report, Scope, State, SubscriberId,
    Ticket, Update, View,
};

use crate::{answer, is_clean};

/// A probe that is out.
struct Out {
    tag: String,
    at_ms: u64,
    is_test: bool,
}

/// What a subscriber has been told.
struct Told {
    filter: Filter,
    in_flight: bool,
    reports: BTreeMap<String, Report>,
}

pub(super) struct Check {
    workers: usize,
    immediate: usize,
    /// After this a test counts as lost (C-5).
    lost_after_ms: u64,
    out: BTreeMap<ProbeId, Out>,
    /// Every name that was given to a probe.
    used: BTreeSet<ProbeId>,
    asked: BTreeSet<Ticket>,
    told: BTreeMap<SubscriberId, Told>,
    /// The last report of each tag and view.
    seen: BTreeMap<(View, String), Report>,
    late: u32,
    stopped: bool,
}

impl Check {
    pub(super) fn new(options: &Options) -> Self {
        let cycles = options.url_test_timeout * 3;
        let asked = options.on_demand_timeouts.last().copied();
        let lost = cycles.max(asked.unwrap_or_default()) + Duration::from_secs(2);
        Self {
            workers: options.workers as usize,
            immediate: options.immediate_limit as usize,
            lost_after_ms: u64::try_from(lost.as_millis()).expect("short"),
            out: BTreeMap::new(),
            used: BTreeSet::new(),
            asked: BTreeSet::new(),
            told: BTreeMap::new(),
            seen: BTreeMap::new(),
            late: 0,
            stopped: false,
        }
    }

    pub(super) fn sent(&mut self, probe: &Probe, now_ms: u64) {
        assert!(!self.stopped, "a probe after the end");
        assert!(!probe.request.deadline.is_zero(), "a probe without time");
        assert!(self.used.insert(probe.id), "a probe's name is used twice");
        let is_test = probe.request.head && !probe.request.ipv6_only;
        let out = Out {
            tag: probe.tag.clone(),
            at_ms: now_ms,
            is_test,
        };
        self.out.insert(probe.id, out);
        let is_lost = |out: &&Out| now_ms >= out.at_ms + self.lost_after_ms;
        let like = || self.out.values().filter(|out| out.is_test == is_test);
        let (lost, running): (Vec<&Out>, Vec<&Out>) =
            like().filter(|out| out.tag == probe.tag).partition(is_lost);
        assert!(running.len() <= 1, "E-3: two tests of {:?}", probe.tag);
        assert!(
            lost.len() <= 1 || !is_test,
            "C-5: a third of {:?}",
            probe.tag
        );
        let all = like().filter(|out| !is_lost(out)).count();
        if is_test {
            assert!(
                all <= self.workers + self.immediate,
                "C-2, E-7: {all} tests"
            );
        } else {
            assert!(all <= self.workers, "T-9: {all} lookups");
        }
    }

    pub(super) fn ended(&mut self, probe: ProbeId) {
        assert!(self.out.remove(&probe).is_some(), "a canceled probe ended");
    }

    pub(super) fn canceled(&mut self, probe: ProbeId) {
        assert!(self.out.remove(&probe).is_some(), "canceled and not out");
    }

    pub(super) fn asked(&mut self, ticket: Ticket) {
        self.asked.insert(ticket);
    }

    pub(super) fn answered(&mut self, ticket: Ticket) {
        assert!(self.asked.remove(&ticket), "S-9: answered unasked or twice");
    }

    pub(super) fn subscribed(&mut self, id: SubscriberId, filter: Filter) {
        let told = Told {
            filter,
            in_flight: false,
            reports: BTreeMap::new(),
        };
        self.told.insert(id, told);
    }

    pub(super) fn unsubscribed(&mut self, id: SubscriberId) {
        self.told.remove(&id);
    }

    pub(super) fn taken(&mut self, id: SubscriberId) {
        if let Some(told) = self.told.get_mut(&id) {
            told.in_flight = false;
        }
    }

    pub(super) fn published(&mut self, id: SubscriberId, update: &Update) {
        let told = self.told.get_mut(&id).expect("a subscriber");
        let waits = std::mem::replace(&mut told.in_flight, true);
        assert!(!waits, "R-4: the last was not taken");
        let is_empty = update.reports.is_empty() && update.removed.is_empty();
        assert!(!is_empty, "R-4: an empty update");
        for tag in &update.removed {
            told.reports.remove(tag);
        }
        for report in &update.reports {
            let is_confirmed = told.filter.view == View::Confirmed;
            assert!(!is_confirmed || !report.miss && !report.testing, "S-7");
            told.reports.insert(report.tag.clone(), report.clone());
        }
    }

    /// A wake-up of this very moment is once in order: not again and again.
    pub(super) fn wakes(&mut self, now: Now, wake_at: Option<Instant>) {
        let is_past = wake_at.is_some_and(|at| at <= now.mono);
        self.late = if is_past { self.late + 1 } else { 0 };
        // Those that are stuck fail a step after their turn, each worker's at once.
        assert!(self.late < 40, "a wake-up in the past again and again");
    }

    pub(super) fn reloaded(&mut self) {
        for told in self.told.values_mut() {
            if matches!(told.filter.scope, Scope::Group(_)) {
                // What leaves a group and comes back is told again.
                told.reports.clear();
            }
        }
    }

    pub(super) fn reports(&mut self, monitor: &Monitor, now: Now) {
        for view in [View::Confirmed, View::Display] {
            let reports = monitor.reports(view, now);
            let tags: BTreeSet<&str> = reports.iter().map(|report| &*report.tag).collect();
            self.seen
                .retain(|(of, tag), _| *of != view || tags.contains(&**tag));
            for report in &reports {
                is_sound(report, view);
                let before = self.seen.insert((view, report.tag.clone()), report.clone());
                let Some(before) = before else { continue };
                let is_same = is_same(&before, report);
                assert!(
                    before.revision < report.revision || is_same,
                    "R-1: changed in silence:\n{before:?}\n{report:?}"
                );
            }
        }
    }

    /// Long after the last event: nothing runs and everyone knows all.
    pub(super) fn at_rest(&self, monitor: &Monitor, now: Now, wake_at: Option<Instant>) {
        assert_eq!(wake_at, None, "N-1");
        assert!(self.asked.is_empty(), "S-9: unanswered: {:?}", self.asked);
        let lookup = self.out.values().find(|out| !out.is_test);
        assert!(lookup.is_none(), "a lookup has no end");
        for told in self.told.values() {
            for report in monitor.reports(told.filter.view, now) {
                assert!(!report.testing && !report.miss && !report.ip_pending);
                let is_wanted = match &told.filter.scope {
                    Scope::All => true,
                    Scope::Tag(tag) => *tag == report.tag,
                    Scope::Group(_) => false,
                };
                if is_wanted {
                    let last = told.reports.get(&report.tag);
                    let last = last.expect("R-4: never told");
                    assert!(is_same(last, &report), "R-4: {last:?}\n{report:?}");
                }
            }
        }
    }

    pub(super) fn said_stopped(&mut self) {
        assert!(!std::mem::replace(&mut self.stopped, true), "stopped twice");
    }

    pub(super) fn stopped(&self, wake_at: Option<Instant>) {
        assert!(self.stopped && wake_at.is_none(), "Stop");
        assert!(self.out.is_empty(), "probes are left behind");
        assert!(self.asked.is_empty(), "S-9: nobody is left waiting");
    }
}

/// The same, but for its age.
fn is_same(one: &Report, other: &Report) -> bool {
    let aged = Report {
        age_ms: one.age_ms,
        ..other.clone()
    };
    aged == *one
}

fn is_sound(report: &Report, view: View) {
    let shows = report.miss || report.testing || report.ip_pending;
    assert!(view == View::Display || !shows, "R-3, S-7: {report:?}");
    let failed = report.state == State::Failed;
    assert_eq!(report.error.is_some(), failed, "R-6: {report:?}");
    assert!(report.delay_ms != Some(0), "T-4");
    let works = report.state == State::Ok;
    assert!(
        !works || report.delay_ms.is_some() && !report.from_cache,
        "R-5"
    );
    let error = report.error.as_ref().map(|error| &error.text);
    for text in error.into_iter().chain(&report.status_text) {
        assert!(is_clean(text, 256), "R-6: {text:?}");
    }
    if let Some(ip) = &report.ip {
        answer::is_sound(ip, false);
    }
}
