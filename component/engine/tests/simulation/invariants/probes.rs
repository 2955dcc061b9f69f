//! Probes: how many are out at once, for whom, how long and behind which gate. It must
//! not know what they bring back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use outwatch_engine::{Instant, Ipv6, Monitor, Now, Options, Probe, ProbeId, State, View};

use super::lines::TestLine;
use crate::world::{Core, is_testable};

/// Reasons of tests that run in a worker only, and of such that never do.
const WORKERS: [&str; 5] = ["cycle", "next-url", "retry", "reload", "resume"];
const AT_ONCE: [&str; 7] = [
    "start",
    "asked",
    "connection-failed",
    "switched",
    "depends",
    "ready",
    "recovered",
];

/// A probe that is out.
struct Out {
    tag: String,
    /// From then on a test counts as lost (C-5).
    lost_at: Instant,
    /// Of a URL test.
    reason: Option<String>,
}

pub(super) struct Probes {
    workers: usize,
    immediate: usize,
    timeout: Duration,
    marks: Vec<Duration>,
    /// By outbound: when its last test began, and whether it had worked then.
    began: BTreeMap<String, (Instant, bool)>,
    repeat: bool,
    out: BTreeMap<ProbeId, Out>,
    names: BTreeSet<ProbeId>,
    /// By outbound and address.
    tired: BTreeMap<(String, String), u64>,
}

impl Probes {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            workers: options.workers as usize,
            immediate: options.immediate_limit as usize,
            timeout: options.url_test_timeout,
            marks: options.on_demand_timeouts.clone(),
            began: BTreeMap::new(),
            repeat: options.unified_delay,
            out: BTreeMap::new(),
            names: BTreeSet::new(),
            tired: BTreeMap::new(),
        }
    }

    pub(super) fn sent(
        &mut self,
        probe: &Probe,
        line: Option<TestLine>,
        monitor: &Monitor,
        now: Now,
        core: &Core,
    ) {
        assert!(self.names.insert(probe.id), "a probe's name is used twice");
        let entry = core
            .find(&probe.tag)
            .expect("a probe through what is there");
        assert!(is_testable(entry), "T-1: {} is tested", probe.tag);
        match &line {
            Some(line) => self.test_is_sound(probe, line, monitor, now, core),
            None => self.lookup_is_sound(probe, monitor, now),
        }
        let out = Out {
            tag: probe.tag.clone(),
            lost_at: now.mono + self.lost_after(line.as_ref()),
            reason: line.map(|line| line.reason),
        };
        self.out.insert(probe.id, out);
        self.is_bounded(&probe.tag, now);
    }

    fn lost_after(&self, line: Option<&TestLine>) -> Duration {
        match line {
            // S-6: canceled at its deadline.
            Some(line) if line.reason == "asked" => Duration::MAX,
            Some(_) | None => self.timeout * 3 + Duration::from_secs(2),
        }
    }

    fn test_is_sound(
        &mut self,
        probe: &Probe,
        line: &TestLine,
        monitor: &Monitor,
        now: Now,
        core: &Core,
    ) {
        let request = &probe.request;
        assert!(!request.deadline.is_zero(), "a probe without time");
        if line.reason == "asked" {
            assert!(Some(&request.deadline) <= self.marks.last(), "S-8");
            self.is_at_its_mark(probe, line, monitor, now);
        } else {
            assert_eq!(request.deadline, self.timeout, "T-6");
        }
        assert_eq!((request.body_limit, request.repeat), (0, self.repeat));
        if line.attempt == 1 && !probe.forced {
            self.gate_is_open(probe, monitor, now, core);
        }
    }

    /// S-2, S-4: no attempt comes before its mark.
    fn is_at_its_mark(&mut self, probe: &Probe, line: &TestLine, monitor: &Monitor, now: Now) {
        if line.attempt == 1 {
            let report = monitor.report(&probe.tag, View::Confirmed, now);
            let worked = report.is_some_and(|report| report.state == State::Ok);
            self.began.insert(probe.tag.clone(), (now.mono, worked));
            return;
        }
        let (began, worked) = self.began[&probe.tag];
        let nth = line.attempt - if worked { 1 } else { 2 };
        let passed = now.mono.since(began);
        assert!(
            self.marks.get(nth).is_some_and(|&mark| passed >= mark),
            "S-2, S-4: attempt {} after {passed:?}",
            line.attempt
        );
    }

    /// D-2
    fn gate_is_open(&self, probe: &Probe, monitor: &Monitor, now: Now, core: &Core) {
        let entry = core.find(&probe.tag).expect("it is there");
        let Some(detour) = entry
            .detour
            .as_deref()
            .filter(|tag| core.find(tag).is_some())
        else {
            return;
        };
        let has_result = |tag: &str| {
            let report = monitor.report(tag, View::Confirmed, now);
            report.is_some_and(|report| report.stats.count > 0)
        };
        match core.leaf(detour) {
            Some(leaf) if !is_testable(leaf) => {}
            Some(leaf) => {
                let tag = &leaf.tag;
                assert!(has_result(tag), "D-2: {tag} has no result of this run");
                let tested = self.running(now).any(|out| out.tag == *tag);
                assert!(!tested, "D-2: {tag} is being tested");
            }
            None => {
                let within = core.within(detour);
                assert!(
                    within.into_iter().any(has_result),
                    "D-2: no member's result"
                );
            }
        }
    }

    fn lookup_is_sound(&self, probe: &Probe, monitor: &Monitor, now: Now) {
        assert_eq!(probe.request.deadline, self.timeout, "I-1");
        let report = monitor.report(&probe.tag, View::Confirmed, now);
        let report = report.expect("a known tag");
        if probe.request.ipv6_only {
            assert_eq!(report.ipv6, Ipv6::Unknown, "V-2: {}", probe.tag);
            return;
        }
        assert_eq!(probe.request.body_limit, 64 * 1024 + 1, "I-3");
        let key = (probe.tag.clone(), probe.request.url.clone());
        if let Some(&until) = self.tired.get(&key) {
            let now_ms = now.mono.0 / 1_000_000;
            assert!(now_ms >= until, "I-7: {key:?} rests until {until}");
        }
    }

    /// E-3, C-5, C-2, E-7, T-9
    fn is_bounded(&self, tag: &str, now: Now) {
        let mine = |out: &&Out| out.tag == tag;
        let of_tests = |out: &&Out| out.reason.is_some();
        let running = self.running(now).filter(mine).count();
        assert!(running <= 1, "E-3: {tag} is tested twice at once");
        let out = self.out.values().filter(mine).filter(of_tests).count();
        assert!(out <= 2, "C-5: a third test of {tag} is out");
        let lookups = |out: &&Out| out.reason.is_none();
        let mine = self.out.values().filter(mine).filter(lookups).count();
        assert!(mine <= 1, "two lookups of {tag} at once");
        let lookups = self.out.values().filter(lookups).count();
        assert!(lookups <= self.workers, "T-9: {lookups} lookups at once");
        let of = |reasons: &'static [&'static str]| {
            let reason = move |out: &&Out| {
                let reason = out.reason.as_deref();
                reason.is_some_and(|reason| reasons.contains(&reason))
            };
            self.running(now).filter(reason).count()
        };
        assert!(of(&AT_ONCE) <= self.immediate, "E-7");
        // A worker's test that somebody waits for goes on in the immediate lane when
        // the network broke it (E-4).
        assert!(of(&WORKERS) <= self.workers + self.immediate, "C-2");
        assert!(self.running(now).count() <= self.workers + self.immediate);
    }

    /// Tests that are out and not lost.
    fn running(&self, now: Now) -> impl Iterator<Item = &Out> {
        self.out
            .values()
            .filter(move |out| out.reason.is_some() && now.mono < out.lost_at)
    }

    /// A probe that is over already may end again.
    pub(super) fn ended(&mut self, probe: ProbeId) {
        self.out.remove(&probe);
    }

    pub(super) fn canceled(&mut self, probe: ProbeId) {
        assert!(
            self.out.remove(&probe).is_some(),
            "a probe that is not out was canceled"
        );
    }

    pub(super) fn tired(&mut self, probe: &Probe, until_ms: u64) {
        if !probe.request.head {
            let key = (probe.tag.clone(), probe.request.url.clone());
            self.tired.insert(key, until_ms);
        }
    }

    /// Who rests for whom may be forgotten with an outbound.
    pub(super) fn reloaded(&mut self) {
        self.tired.clear();
    }

    /// Only tests that never came back are out.
    pub(super) fn at_rest(&self) {
        let tests = self.out.values().all(|out| out.reason.is_some());
        assert!(tests, "a lookup has no end");
    }

    pub(super) fn none_left(&self) {
        assert!(self.out.is_empty(), "probes are left behind");
    }
}
