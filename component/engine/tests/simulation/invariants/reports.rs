//! Reports: each is sound, follows from the one before, and a group's is its
//! member's. It must not know what was told to whom.

use std::collections::BTreeMap;

use outwatch_engine::{Kind, Monitor, Now, Options, Report, State, View};

use crate::world::Core;

pub(super) struct Reports {
    /// No test takes longer (T-2).
    longest_ms: u128,
    /// The last reports of each view.
    seen: BTreeMap<View, Vec<Report>>,
    /// The outbounds changed in this step.
    reloaded: bool,
    /// What there is, in order.
    tags: Vec<String>,
}

impl Reports {
    pub(super) fn new(options: &Options, core: &Core) -> Self {
        let marks = options.on_demand_timeouts.iter().copied();
        let longest = marks.chain([options.url_test_timeout]).max();
        Self {
            longest_ms: longest.unwrap_or_default().as_millis(),
            seen: BTreeMap::new(),
            reloaded: false,
            tags: core.entries().map(|one| one.tag.clone()).collect(),
        }
    }

    pub(super) fn reloaded(&mut self) {
        self.reloaded = true;
    }

    pub(super) fn after_step(&mut self, monitor: &Monitor, now: Now, core: &Core) {
        if self.reloaded {
            self.tags = core.entries().map(|one| one.tag.clone()).collect();
        }
        for view in [View::Confirmed, View::Display] {
            let mut reports = monitor.reports(view, now);
            for report in &mut reports {
                // It grows by itself.
                report.age_ms = report.age_ms.map(|_| 0);
            }
            if self.seen.get(&view) == Some(&reports) {
                continue;
            }
            let tags = reports.iter().map(|report| &report.tag);
            assert!(tags.eq(&self.tags), "not in config order");
            let before = self.seen.remove(&view).unwrap_or_default();
            for (nth, report) in reports.iter().enumerate() {
                self.is_sound(report, view);
                if report.kind == Kind::Group {
                    is_its_members(report, &reports, core);
                }
                let same_place = before.get(nth).filter(|one| one.tag == report.tag);
                let before = same_place.or_else(|| before.iter().find(|one| one.tag == report.tag));
                if let Some(before) = before {
                    self.moved_on(before, report);
                }
            }
            self.seen.insert(view, reports);
        }
        self.reloaded = false;
    }

    fn is_sound(&self, report: &Report, view: View) {
        if view == View::Confirmed {
            assert!(
                !report.miss && !report.testing && !report.ip_pending,
                "R-3, S-7"
            );
        }
        let failed = report.state == State::Failed;
        assert_eq!(report.error.is_some(), failed, "R-6: {report:?}");
        let delay = report.delay_ms.unwrap_or(1);
        assert!(delay >= 1, "T-4");
        if report.state == State::Ok {
            assert!(report.delay_ms.is_some() && report.tested_at.is_some());
            assert!(u128::from(delay) <= self.longest_ms, "T-2: {report:?}");
        }
        assert!(!report.from_cache || report.state != State::Ok, "R-5");
        let not_ready = report.state == State::NotReady;
        assert_eq!(report.status_text.is_some(), not_ready, "D-4");
        let stats = report.stats;
        assert!(stats.count <= 32 && stats.failed <= stats.count, "R-7");
        let texts = report.error.iter().map(|error| &error.text);
        for text in texts.chain(&report.status_text) {
            let control = text.chars().any(char::is_control);
            assert!(!control && text.chars().count() <= 256, "{text:?}");
        }
    }

    /// The same revision means the same content, and revisions only grow.
    fn moved_on(&self, before: &Report, after: &Report) {
        let same = after == before;
        assert!(after.revision >= before.revision, "{} went back", after.tag);
        let grown = after.revision > before.revision;
        assert!(
            same || grown,
            "R-1: changed in silence:\n{before:?}\n{after:?}"
        );
        let fell_back = !before.from_cache && after.from_cache;
        let of_run = matches!(before.state, State::Ok | State::Failed);
        let alone = after.kind != Kind::Group && !self.reloaded;
        assert!(
            !(fell_back && of_run && alone),
            "R-5: {} is cached again",
            after.tag
        );
    }
}

/// all that a group shows is one member's: the selected one's if it has chosen,
/// else the best one's.
fn is_its_members(group: &Report, reports: &[Report], core: &Core) {
    let find = |tag: &str| reports.iter().find(|report| report.tag == tag);
    let candidates = core.candidates(&group.tag);
    let Some(via) = &group.via else {
        assert_eq!(group.state, State::Untested, "R-2: {group:?}");
        assert_eq!(candidates.len(), 0, "R-2: it has members: {group:?}");
        return;
    };
    let member = find(via).expect("R-2: a member that is there");
    let expected = Report {
        tag: group.tag.clone(),
        kind: group.kind,
        type_name: group.type_name.clone(),
        via: group.via.clone(),
        revision: group.revision,
        ..member.clone()
    };
    assert_eq!(*group, expected, "R-2");
    if let Some(leaf) = core.leaf(&group.tag) {
        assert_eq!(leaf.tag, *via, "R-2: it selects another");
        return;
    }
    for candidate in candidates.iter().filter_map(|tag| find(tag)) {
        let better = standing(candidate) < standing(member);
        assert!(!better, "R-2: there is a better one: {candidate:?}");
    }
}

/// Smaller is better.
fn standing(report: &Report) -> (u8, Option<u32>) {
    let state = match report.state {
        State::Ok => 0,
        State::Cached => 1,
        State::Failed => 2,
        State::NotReady => 3,
        State::Untested => 4,
    };
    let works = matches!(report.state, State::Ok | State::Cached);
    (state, report.delay_ms.filter(|_| works))
}
