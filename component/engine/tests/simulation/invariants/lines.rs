//! Log lines (L) and what follows from them: why each test runs, which attempt it is,
//! and in which network it began (E-4). It must not look at results.

use std::collections::{BTreeMap, BTreeSet};

use outwatch_engine::{Monitor, Now, Options, Probe, View};

use crate::grammar::{self, Events};

/// What the log said of a test before its probe was sent.
#[derive(Clone, Debug)]
pub(super) struct TestLine {
    tag: String,
    pub(super) reason: String,
    pub(super) attempt: usize,
    /// Somebody asked for it, or joined it by asking (E-3).
    pub(super) asked: bool,
}

pub(super) struct Lines {
    /// What the document promises.
    events: Events,
    /// Tests that were announced and of which nothing has come yet.
    open: BTreeSet<String>,
    /// Attempts of an asked-for test at most (S-2).
    marks: usize,
    urls: Vec<String>,
    /// Grows with every change of the network.
    generation: u32,
    /// The network in which the last test of a tag began.
    began: BTreeMap<String, u32>,
    /// Tags whose test somebody joined by asking.
    joined: BTreeSet<String>,
    /// Tags whose address was found in this step.
    found: Vec<String>,
    /// A test was announced and not sent.
    pending: Option<TestLine>,
}

impl Lines {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            events: grammar::events(),
            open: BTreeSet::new(),
            marks: options.on_demand_timeouts.len(),
            urls: options.urls.clone(),
            generation: 0,
            began: BTreeMap::new(),
            joined: BTreeSet::new(),
            found: Vec::new(),
            pending: None,
        }
    }

    pub(super) fn logged(&mut self, line: &str) {
        let pairs = grammar::parse(line).unwrap_or_else(|| panic!("L-1: {line}"));
        let promised = grammar::is_as_promised(&self.events, &pairs);
        assert!(promised, "L-1: not in docs/LOG.md: {line}");
        let pairs: BTreeMap<&str, &str> = pairs
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        if matches!(pairs["event"], "result" | "not_ready" | "again" | "dropped") {
            let was_open = self.open.remove(pairs["tag"]);
            let untested = pairs.get("attempts") == Some(&"0");
            assert!(was_open || untested, "L-1: of no test: {line}");
        }
        match pairs["event"] {
            "joined" if pairs["reason"] == "asked" => {
                self.joined.insert(pairs["tag"].into());
            }
            "ip" => self.found.push(pairs["tag"].into()),
            "not_ready" => drop(self.joined.remove(pairs["tag"])),
            "network_changed" => self.generation += 1,
            "test" => self.test(&pairs),
            "result" => {
                self.joined.remove(pairs["tag"]);
                let failed = pairs["state"] == "failed" && pairs["attempts"] != "0";
                let of_now = self.began.get(pairs["tag"]) == Some(&self.generation);
                assert!(
                    of_now || !failed,
                    "E-4: a failure of the network before: {line}"
                );
            }
            _ => {}
        }
    }

    fn test(&mut self, pairs: &BTreeMap<&str, &str>) {
        let attempt = pairs["attempt"].parse().expect("a number");
        let asked = pairs["reason"] == "asked";
        let most = if asked { self.marks } else { 1 };
        assert!(attempt <= most, "S-2: attempt {attempt} of {most}");
        assert!(self.urls.iter().any(|url| url == pairs["url"]), "C-4");
        if attempt == 1 {
            let new = self.open.insert(pairs["tag"].into());
            assert!(
                new,
                "L-1: nothing came of the test before of {}",
                pairs["tag"]
            );
            self.began.insert(pairs["tag"].into(), self.generation);
        }
        let line = TestLine {
            tag: pairs["tag"].into(),
            reason: pairs["reason"].into(),
            attempt,
            asked: asked || self.joined.contains(pairs["tag"]),
        };
        assert!(self.pending.replace(line).is_none(), "L-1: said, not sent");
    }

    /// The line of a probe that is sent, if it is a URL test.
    pub(super) fn announced(&mut self, probe: &Probe) -> Option<TestLine> {
        let is_test = probe.request.head && !probe.request.ipv6_only;
        if !is_test {
            return None;
        }
        let line = self.pending.take().expect("L-1: a test without a line");
        assert_eq!(line.tag, probe.tag, "L-1");
        Some(line)
    }

    /// Long after the last event, or after the end.
    pub(super) fn none_is_open(&self) {
        let open = &self.open;
        assert!(
            open.is_empty(),
            "L-1: nothing came of the tests of {open:?}"
        );
    }

    pub(super) fn after_step(&mut self, monitor: &Monitor, now: Now) {
        assert!(self.pending.is_none(), "L-1: said, not sent");
        for tag in self.found.drain(..) {
            let report = monitor.report(&tag, View::Confirmed, now);
            let of_run = report.is_some_and(|report| report.ip.is_some() && !report.ip_from_cache);
            assert!(of_run, "I-6: {tag} was looked up in this run");
        }
    }
}
