//! What subscribers are told: each keeps a replica from updates alone. It must
//! not know why they are told.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use outwatch_engine::{
    Filter, Instant, Monitor, Now, Options, Report, Scope, SubscriberId, Update, View,
};

use crate::world::Core;

/// What one subscriber has been told.
struct Replica {
    filter: Filter,
    in_flight: bool,
    last: Option<Instant>,
    reports: BTreeMap<String, Report>,
    /// What left a group and came back is told again, changed or not.
    may_repeat: BTreeSet<String>,
}

pub(super) struct Told {
    window: Duration,
    stopping: bool,
    replicas: BTreeMap<SubscriberId, Replica>,
}

impl Told {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            window: options.debounce_window,
            stopping: false,
            replicas: BTreeMap::new(),
        }
    }

    pub(super) fn subscribed(&mut self, id: SubscriberId, filter: Filter) {
        let replica = Replica {
            filter,
            in_flight: false,
            last: None,
            reports: BTreeMap::new(),
            may_repeat: BTreeSet::new(),
        };
        self.replicas.insert(id, replica);
    }

    pub(super) fn left(&mut self, id: SubscriberId) {
        self.replicas.remove(&id);
    }

    pub(super) fn taken(&mut self, id: SubscriberId) {
        if let Some(replica) = self.replicas.get_mut(&id) {
            replica.in_flight = false;
        }
    }

    pub(super) fn reloaded(&mut self) {
        for replica in self.replicas.values_mut() {
            if matches!(replica.filter.scope, Scope::Group(_)) {
                replica.may_repeat.extend(replica.reports.keys().cloned());
            }
        }
    }

    /// At the end nothing waits.
    pub(super) fn stopping(&mut self) {
        self.stopping = true;
    }

    pub(super) fn published(&mut self, id: SubscriberId, update: &Update, now: Now) {
        let replica = self.replicas.get_mut(&id).expect("a subscriber");
        assert!(
            !std::mem::replace(&mut replica.in_flight, true),
            "R-4: the last was not taken"
        );
        assert!(
            !update.reports.is_empty() || !update.removed.is_empty(),
            "R-4: an empty update"
        );
        let waited = replica.last.map(|last| now.mono.since(last));
        assert!(
            update.urgent || self.stopping || waited.is_some_and(|waited| waited >= self.window),
            "R-4: told again after {waited:?}"
        );
        replica.last = Some(now.mono);
        for tag in &update.removed {
            replica.reports.remove(tag);
        }
        for report in &update.reports {
            replica.take(report);
        }
    }

    /// Long after the last event everyone knows how all they want stands.
    pub(super) fn at_rest(&self, monitor: &Monitor, now: Now, core: &Core) {
        for replica in self.replicas.values() {
            let within = match &replica.filter.scope {
                Scope::Group(group) => core.within(group),
                Scope::All | Scope::Tag(_) => BTreeSet::new(),
            };
            for report in monitor.reports(replica.filter.view, now) {
                let tag = report.tag.as_str();
                let wanted = match &replica.filter.scope {
                    Scope::All => true,
                    Scope::Tag(wanted) => wanted == tag,
                    Scope::Group(_) => within.contains(tag),
                };
                if !wanted {
                    continue;
                }
                let told = replica.reports.get(tag);
                let told = told.unwrap_or_else(|| panic!("R-4: {tag} was never told"));
                let told = Report {
                    age_ms: report.age_ms,
                    ..told.clone()
                };
                assert_eq!(told, report, "R-4: the last state is lost");
            }
        }
    }
}

impl Replica {
    fn take(&mut self, report: &Report) {
        if self.filter.view == View::Confirmed {
            assert!(!report.miss && !report.testing, "S-7");
        }
        let repeats = self.may_repeat.remove(&report.tag);
        let before = self.reports.insert(report.tag.clone(), report.clone());
        if let Some(before) = before {
            let grown = before.revision < report.revision;
            let same = before.revision == report.revision;
            assert!(grown || repeats && same, "R-4: {} told twice", report.tag);
        }
    }
}
