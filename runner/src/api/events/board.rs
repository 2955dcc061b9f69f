//! The last state of everything, and in which order it changed: whoever knows how far on it
//! is gets all that changed since, once. It must not know who that is.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use crate::api::groups::Group;
use crate::api::source::Source;
use crate::proxy_core::Kind;
use crate::report::Report;

/// How many tags that are gone are remembered.
const GONE: usize = 1024;

/// The last state of everything.
pub(super) struct Board {
    /// Tells this board from that of another start.
    start: u64,
    /// Grows with every change of one tag.
    version: u64,
    slots: HashMap<String, Slot>,
    /// The tag of each version that is the last of its tag.
    order: BTreeMap<u64, String>,
    /// The versions at which tags went.
    gone: BTreeSet<u64>,
    /// What went up to this version may be forgotten.
    forgotten: u64,
}

struct Slot {
    version: u64,
    at: Instant,
    holds: Holds,
}

enum Holds {
    Outbound(Box<Report>),
    Group(Box<Group>),
    Gone,
}

/// All that changed since a version.
#[derive(Debug, Serialize)]
pub(in crate::api) struct Update {
    pub(super) reports: Vec<Report>,
    pub(super) removed: Vec<String>,
    pub(super) groups: Vec<Group>,
    /// The version that this leads to.
    #[serde(skip)]
    pub(super) version: u64,
}

impl Board {
    pub(super) fn new() -> Self {
        Self {
            // Keys of a hasher are random.
            start: RandomState::new().build_hasher().finish(),
            version: 0,
            slots: HashMap::new(),
            order: BTreeMap::new(),
            gone: BTreeSet::new(),
            forgotten: 0,
        }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Takes newer reports, and tags that are gone.
    pub(super) fn take(&mut self, source: &Source, reports: Vec<Report>, removed: Vec<String>) {
        let (groups, outbounds): (Vec<_>, Vec<_>) = reports
            .into_iter()
            .partition(|report| report.kind == Kind::Group);
        for report in outbounds {
            self.put(report.tag.clone(), Holds::Outbound(Box::new(report)));
        }
        for group in source.groups_of(groups) {
            self.put(group.tag().to_owned(), Holds::Group(Box::new(group)));
        }
        for tag in removed {
            if self.slots.contains_key(&tag) {
                self.put(tag, Holds::Gone);
            }
        }
        self.forget();
    }

    /// Takes how the groups stand now.
    pub(super) fn look_at_groups(&mut self, source: &Source) {
        let reports = self.slots.values().filter_map(|slot| match &slot.holds {
            Holds::Group(group) => Some(group.report().clone()),
            Holds::Outbound(_) | Holds::Gone => None,
        });
        for group in source.groups_of(Vec::from_iter(reports)) {
            self.put(group.tag().to_owned(), Holds::Group(Box::new(group)));
        }
    }

    /// What changed after `version`; none if that is not known any more, or is to come.
    pub(super) fn since(&self, version: u64) -> Option<Update> {
        if version < self.forgotten || version > self.version {
            return None;
        }
        let mut update = Update {
            reports: Vec::new(),
            removed: Vec::new(),
            groups: Vec::new(),
            version: self.version,
        };
        for tag in self.order.range(version + 1..).map(|(_, tag)| tag) {
            let Some(slot) = self.slots.get(tag) else {
                continue;
            };
            let since = slot.at.elapsed();
            match &slot.holds {
                Holds::Outbound(report) => update.reports.push(aged((**report).clone(), since)),
                Holds::Group(group) => {
                    let mut group = (**group).clone();
                    let report = group.report_mut();
                    *report = aged(report.clone(), since);
                    update.groups.push(group);
                }
                Holds::Gone => update.removed.push(tag.clone()),
            }
        }
        Some(update)
    }

    fn put(&mut self, tag: String, holds: Holds) {
        let before = self.slots.get(&tag);
        if before.is_some_and(|before| before.holds.says(&holds)) {
            return;
        }
        if let Some(before) = before {
            self.order.remove(&before.version);
            self.gone.remove(&before.version);
        }
        self.version += 1;
        self.order.insert(self.version, tag.clone());
        if matches!(holds, Holds::Gone) {
            self.gone.insert(self.version);
        }
        let slot = Slot {
            version: self.version,
            at: Instant::now(),
            holds,
        };
        self.slots.insert(tag, slot);
    }

    /// Forgets the tags that have been gone for longest.
    fn forget(&mut self) {
        while self.gone.len() > GONE {
            let Some(version) = self.gone.pop_first() else {
                return;
            };
            if let Some(tag) = self.order.remove(&version) {
                self.slots.remove(&tag);
            }
            self.forgotten = version;
        }
    }
}

impl Holds {
    /// Whether this tells the same as `other`, but for its age.
    fn says(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Outbound(one), Self::Outbound(other)) => same(one, other),
            (Self::Group(one), Self::Group(other)) => {
                same(one.report(), other.report()) && one.stands_like(other)
            }
            (Self::Gone, Self::Gone) => true,
            _ => false,
        }
    }
}

fn same(one: &Report, other: &Report) -> bool {
    one.revision == other.revision && {
        let mut one = one.clone();
        one.age_ms = other.age_ms;
        one == *other
    }
}

/// A report that was taken a while ago.
fn aged(mut report: Report, since: Duration) -> Report {
    let since = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    report.age_ms = report.age_ms.map(|age| age.saturating_add(since));
    report
}

#[cfg(test)]
mod tests;
