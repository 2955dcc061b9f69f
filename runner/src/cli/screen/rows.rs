//! The reports of the live table: the latest of each tag, which of them are shown, and in
//! which order. It must not know how they are drawn.

use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};

use outwatch::{Kind, Report, State, Update};

use crate::cli::output;

/// By what rows are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// Fastest first; then what has no result, then the failed.
    #[default]
    Delay,
    Tag,
    Country,
    Type,
    /// The newest result first.
    Tested,
    /// As in the config.
    Config,
}

impl Sort {
    const ALL: [Self; 6] = [
        Self::Delay,
        Self::Tag,
        Self::Country,
        Self::Type,
        Self::Tested,
        Self::Config,
    ];

    /// The one after this.
    pub(super) fn next(self) -> Self {
        let at = Self::ALL.iter().position(|sort| *sort == self);
        let next = at.map_or(0, |at| (at + 1) % Self::ALL.len());
        Self::ALL.get(next).copied().unwrap_or_default()
    }

    /// What people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Tag => "tag",
            Self::Country => "country",
            Self::Type => "type",
            Self::Tested => "last tested",
            Self::Config => "config",
        }
    }

    fn compare(self, a: &Report, b: &Report) -> Ordering {
        match self {
            Self::Delay => output::rank(a).cmp(&output::rank(b)),
            Self::Tag => small(&a.tag).cmp(small(&b.tag)),
            // Where that is not known it stands last.
            Self::Country => {
                let key = |report: &Report| {
                    let code = report.ip.as_ref().and_then(|ip| ip.country_code.clone());
                    (code.is_none(), code)
                };
                key(a).cmp(&key(b)).then_with(|| Self::Delay.compare(a, b))
            }
            Self::Type => {
                let types = a.type_name.cmp(&b.type_name);
                types.then_with(|| Self::Delay.compare(a, b))
            }
            Self::Tested => Reverse(a.tested_at).cmp(&Reverse(b.tested_at)),
            Self::Config => Ordering::Equal,
        }
    }
}

fn small(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

/// All reports, and the order of those that are shown.
#[derive(Default)]
pub(super) struct Rows {
    /// In config order.
    reports: Vec<Report>,
    by_tag: HashMap<String, usize>,
    /// Which are shown, in this order.
    shown: Vec<usize>,
}

/// Which rows are wanted, and in which order.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) sort: Sort,
    pub(super) reversed: bool,
    /// In small letters.
    pub(super) filter: String,
    /// The members of the group that is looked at.
    pub(super) among: Option<HashSet<String>>,
}

/// How many outbounds there are, by what is known of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) all: usize,
    pub(super) ok: usize,
    pub(super) failed: usize,
    pub(super) testing: usize,
}

impl Rows {
    /// Takes an update.
    pub(super) fn learn(&mut self, update: Update) {
        if !update.removed.is_empty() {
            let gone: HashSet<String> = update.removed.into_iter().collect();
            self.reports.retain(|report| !gone.contains(&report.tag));
            let tags = self.reports.iter().map(|report| report.tag.clone());
            self.by_tag = tags.zip(0..).collect();
        }
        for report in update.reports {
            match self.by_tag.get(&report.tag) {
                Some(at) => {
                    if let Some(known) = self.reports.get_mut(*at) {
                        *known = report;
                    }
                }
                None => {
                    self.by_tag.insert(report.tag.clone(), self.reports.len());
                    self.reports.push(report);
                }
            }
        }
    }

    /// Decides anew what is shown.
    pub(super) fn arrange(&mut self, wanted: &Wanted) {
        let shown = self.reports.iter().enumerate();
        let mut shown: Vec<(usize, &Report)> = shown
            .filter(|(_, report)| {
                let among = wanted.among.as_ref();
                among.is_none_or(|tags| tags.contains(&report.tag))
                    && (wanted.filter.is_empty() || matches(report, &wanted.filter))
            })
            .collect();
        // What compares equal stays in config order.
        shown.sort_by(|(_, a), (_, b)| {
            let order = wanted.sort.compare(a, b);
            if wanted.reversed {
                order.reverse()
            } else {
                order
            }
        });
        if wanted.reversed && wanted.sort == Sort::Config {
            shown.reverse();
        }
        self.shown = shown.into_iter().map(|(at, _)| at).collect();
    }

    /// How many are shown.
    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    /// The nth that is shown.
    pub(super) fn nth(&self, nth: usize) -> Option<&Report> {
        self.reports.get(*self.shown.get(nth)?)
    }

    /// Where a tag is shown.
    pub(super) fn position(&self, tag: &str) -> Option<usize> {
        let at = self.by_tag.get(tag)?;
        self.shown.iter().position(|shown| shown == at)
    }

    /// The tags of all outbounds that are shown; groups are not tested themselves.
    pub(super) fn testable(&self) -> Vec<String> {
        let reports = self.shown.iter().filter_map(|at| self.reports.get(*at));
        let outbounds = reports.filter(|report| report.kind != Kind::Group);
        outbounds.map(|report| report.tag.clone()).collect()
    }

    /// What is known of all outbounds.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for report in &self.reports {
            if report.kind != Kind::Group {
                counts.all += 1;
                counts.ok += usize::from(report.state == State::Ok);
                counts.failed += usize::from(report.state == State::Failed);
                counts.testing += usize::from(report.testing);
            }
        }
        counts
    }
}

/// Whether a text in small letters is somewhere in what is shown of a report.
fn matches(report: &Report, filter: &str) -> bool {
    let ip = report.ip.as_ref();
    let error = report.error.as_ref();
    let texts = [
        Some(report.tag.as_str()),
        Some(report.type_name.as_str()),
        Some(report.state.as_str()),
        error.map(|error| error.kind.as_str()),
        ip.map(|ip| ip.ip.as_str()),
        ip.and_then(|ip| ip.country_code.as_deref()),
        ip.and_then(|ip| ip.city.as_deref()),
        ip.and_then(|ip| ip.org.as_deref()),
    ];
    let mut texts = texts.into_iter().flatten();
    texts.any(|text| text.to_lowercase().contains(filter))
}
