//! What must hold after every step of any story. It must not look into the engine,
//! only at what it says and does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use outwatch_engine::{
    Filter, Instant, Kind, Monitor, Now, Options, Probe, ProbeId, ProbeOutcome, Report, Scope,
    State, SubscriberId, Ticket, Update, View,
};

/// A probe that is out.
struct Out {
    tag: String,
    at_ms: u64,
    is_test: bool,
}

/// What a subscriber has been told.
struct Replica {
    filter: Filter,
    in_flight: bool,
    reports: BTreeMap<String, Report>,
}

pub(crate) struct Invariants {
    workers: usize,
    immediate: usize,
    /// After this a test counts as lost.
    lost_after_ms: u64,
    idle_timeout: Duration,
    now_ms: u64,
    out: BTreeMap<ProbeId, Out>,
    asked: BTreeSet<Ticket>,
    replicas: BTreeMap<SubscriberId, Replica>,
    /// The last report of each tag and view.
    seen: BTreeMap<(String, View), Report>,
    late: u32,
    /// The outbounds changed in this step.
    reloaded: bool,
}

impl Invariants {
    pub(crate) fn new(options: &Options) -> Self {
        let lost =
            (options.url_test_timeout * 3 + Duration::from_secs(2)).max(Duration::from_secs(10));
        Self {
            workers: options.workers as usize,
            immediate: options.immediate_limit as usize,
            lost_after_ms: u64::try_from(lost.as_millis()).expect("short"),
            idle_timeout: options.idle_timeout,
            now_ms: 0,
            out: BTreeMap::new(),
            asked: BTreeSet::new(),
            replicas: BTreeMap::new(),
            seen: BTreeMap::new(),
            late: 0,
            reloaded: false,
        }
    }

    pub(crate) fn sent(&mut self, probe: &Probe, now_ms: u64) {
        self.now_ms = now_ms;
        assert!(!probe.request.deadline.is_zero(), "a probe without time");
        let is_test = probe.request.head && !probe.request.ipv6_only;
        let out = Out {
            tag: probe.tag.clone(),
            at_ms: now_ms,
            is_test,
        };
        assert!(
            self.out.insert(probe.id, out).is_none(),
            "a probe's name is used twice"
        );
        // E-3
        let mine = self
            .out
            .values()
            .filter(|out| out.is_test == is_test && out.tag == probe.tag);
        let (lost, running): (Vec<&Out>, Vec<&Out>) =
            mine.partition(|out| now_ms >= out.at_ms + self.lost_after_ms);
        assert!(running.len() <= 1, "two probes of {} at once", probe.tag);
        assert!(
            lost.len() <= 1 || !is_test,
            "C-5: a third test of {}",
            probe.tag
        );
        let all = |tests: bool| self.out.values().filter(move |out| out.is_test == tests);
        let running = all(true)
            .filter(|out| now_ms < out.at_ms + self.lost_after_ms)
            .count();
        assert!(
            running <= self.workers + self.immediate,
            "E-7, C-2: too many tests"
        );
        assert!(all(false).count() <= self.workers, "T-9: too many lookups");
    }

    pub(crate) fn ended(&mut self, probe: ProbeId) {
        assert!(self.out.remove(&probe).is_some(), "a canceled probe ended");
    }

    pub(crate) fn canceled(&mut self, probe: ProbeId) {
        assert!(
            self.out.remove(&probe).is_some(),
            "a probe that is not out was canceled"
        );
    }

    pub(crate) fn asked(&mut self, ticket: Ticket) {
        self.asked.insert(ticket);
    }

    pub(crate) fn answered(&mut self, ticket: Ticket) {
        assert!(
            self.asked.remove(&ticket),
            "an answer that nobody waits for"
        );
    }

    pub(crate) fn subscribed(&mut self, id: SubscriberId, filter: Filter) {
        self.replicas.insert(
            id,
            Replica {
                filter,
                in_flight: false,
                reports: BTreeMap::new(),
            },
        );
    }

    pub(crate) fn unsubscribed(&mut self, id: SubscriberId) {
        self.replicas.remove(&id);
    }

    pub(crate) fn taken(&mut self, id: SubscriberId) {
        if let Some(replica) = self.replicas.get_mut(&id) {
            replica.in_flight = false;
        }
    }

    pub(crate) fn published(&mut self, id: SubscriberId, update: &Update) {
        let replica = self.replicas.get_mut(&id).expect("a subscriber");
        assert!(
            !core::mem::replace(&mut replica.in_flight, true),
            "R-4: the last was not taken"
        );
        assert!(
            !update.reports.is_empty() || !update.removed.is_empty(),
            "R-4: an empty update"
        );
        for tag in &update.removed {
            replica.reports.remove(tag);
        }
        for report in &update.reports {
            if replica.filter.view == View::Confirmed {
                assert!(!report.miss && !report.testing, "S-7");
            }
            let before = replica.reports.insert(report.tag.clone(), report.clone());
            if let Some(before) = before {
                assert!(
                    before.revision < report.revision,
                    "R-4: {} told twice",
                    report.tag
                );
            }
        }
    }

    pub(crate) fn wake_at(&mut self, now: Now, wake_at: Option<Instant>) {
        let late = wake_at.is_some_and(|at| at <= now.mono);
        self.late = if late { self.late + 1 } else { 0 };
        assert!(self.late < 40, "a wake-up in the past again and again");
    }

    pub(crate) fn reloaded(&mut self) {
        self.reloaded = true;
        for replica in self.replicas.values_mut() {
            if matches!(replica.filter.scope, Scope::Group(_)) {
                // What leaves a group and comes back is told again.
                replica.reports.clear();
            }
        }
    }

    pub(crate) fn after_step(&mut self, monitor: &Monitor, now: Now) {
        for view in [View::Confirmed, View::Display] {
            let reports = monitor.reports(view, now);
            let tags: BTreeSet<&str> = reports.iter().map(|report| report.tag.as_str()).collect();
            self.seen
                .retain(|(tag, of), _| *of != view || tags.contains(tag.as_str()));
            for report in &reports {
                Self::is_sound(report, view);
                let key = (report.tag.clone(), view);
                if let Some(before) = self.seen.insert(key, report.clone()) {
                    Self::moved_on(&before, report);
                    let fell_back = !before.from_cache && report.from_cache;
                    let of_run = matches!(before.state, State::Ok | State::Failed);
                    let alone = report.kind != Kind::Group && !self.reloaded;
                    assert!(
                        !(fell_back && of_run && alone),
                        "R-5: {} is cached again",
                        report.tag
                    );
                }
            }
        }
        self.reloaded = false;
    }

    fn is_sound(report: &Report, view: View) {
        if view == View::Confirmed {
            assert!(
                !report.miss && !report.testing && !report.ip_pending,
                "R-3, S-7"
            );
        }
        assert_eq!(
            report.error.is_some(),
            report.state == State::Failed,
            "{report:?}"
        );
        assert!(report.delay_ms != Some(0), "T-4");
        assert!(!report.from_cache || report.state != State::Ok, "R-5");
        if matches!(report.state, State::Ok) {
            assert!(report.delay_ms.is_some() && report.tested_at.is_some());
        }
    }

    /// The same revision means the same content, and revisions only grow.
    fn moved_on(before: &Report, after: &Report) {
        let same = Report {
            age_ms: before.age_ms,
            ..after.clone()
        } == *before;
        assert!(after.revision >= before.revision, "{} went back", after.tag);
        let grown = after.revision > before.revision;
        assert!(
            same || grown,
            "R-1: changed in silence:\n{before:?}\n{after:?}"
        );
    }

    /// Long after the last event.
    pub(crate) fn at_rest(
        &self,
        monitor: &Monitor,
        now: Now,
        wake_at: Option<Instant>,
        coming: &BTreeMap<(u64, ProbeId), ProbeOutcome>,
    ) {
        assert_eq!(wake_at, None, "N-1: idle after {:?}", self.idle_timeout);
        assert!(coming.is_empty());
        assert!(self.asked.is_empty(), "unanswered: {:?}", self.asked);
        assert!(
            self.out.values().all(|out| out.is_test),
            "a lookup has no end"
        );
        for replica in self.replicas.values() {
            for report in monitor.reports(replica.filter.view, now) {
                let scope = &replica.filter.scope;
                let wanted = *scope == Scope::All || *scope == Scope::Tag(report.tag.clone());
                if wanted {
                    let told = replica.reports.get(&report.tag).expect("told at all");
                    let told = Report {
                        age_ms: report.age_ms,
                        ..told.clone()
                    };
                    assert_eq!(told, report, "R-4: the last state is lost");
                }
                assert!(
                    !report.testing && !report.miss && !report.ip_pending,
                    "{report:?}"
                );
            }
        }
    }

    /// P-1: what worked last is known to the next run.
    pub(crate) fn restarted(&self, old: &Monitor, new: &Monitor, now: Now) {
        for before in old.reports(View::Confirmed, now) {
            if before.kind == Kind::Group || before.state != State::Ok {
                continue;
            }
            let after = new
                .report(&before.tag, View::Confirmed, now)
                .expect("a known tag");
            assert_eq!(after.state, State::Cached);
            assert_eq!((after.delay_ms, after.url), (before.delay_ms, before.url));
            assert_eq!(
                (after.last_ok_at, &after.ip),
                (before.last_ok_at, &before.ip)
            );
            assert_eq!(after.ip_from_cache, before.ip.is_some());
        }
    }

    pub(crate) fn stopped(&self) {
        assert!(self.out.is_empty(), "probes are left behind");
    }
}
