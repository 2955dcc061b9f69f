//! A group as it is answered: its members, where it leads and why, and its report. It must
//! not know how it is asked for.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::source::Source;
use crate::group::{Decision, GroupStatus};
use crate::proxy_core::{Kind, Network, Outbound, SelectError};
use crate::report::{Report, View};

/// The type of the groups that a person chooses in, where the core chooses.
const SELECTOR: &str = "selector";

/// A group, all of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Group {
    tag: String,
    #[serde(rename = "type")]
    type_name: String,
    members: Vec<String>,
    selected: Selected,
    selectable: bool,
    strategy: Option<&'static str>,
    why: Option<String>,
    decision: Decisions,
    report: Report,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Selected {
    tcp: Option<String>,
    udp: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Decisions {
    tcp: Option<Decided>,
    udp: Option<Decided>,
}

/// A decision in words that do not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Decided {
    event: &'static str,
    reason: &'static str,
    member: String,
    delay_ms: Option<u64>,
    fastest: Option<String>,
    fastest_ms: Option<u64>,
}

impl Group {
    /// A group whose report is known.
    fn new(status: GroupStatus, report: Report) -> Self {
        Self {
            selectable: status.selectable(),
            strategy: status.policy.strategy(),
            why: status.why(),
            tag: status.tag,
            type_name: report.type_name.clone(),
            members: status.members,
            selected: Selected {
                tcp: status.tcp,
                udp: status.udp,
            },
            decision: Decisions {
                tcp: status.tcp_decision.map(Decided::from),
                udp: status.udp_decision.map(Decided::from),
            },
            report,
        }
    }

    /// A group that its core leads.
    fn of_core(source: &Source, listed: &Outbound, report: Report) -> Self {
        let core = source.monitor.core();
        let selected = |network| core.as_ref()?.selected(&listed.tag, network);
        Self {
            tag: listed.tag.clone(),
            type_name: listed.type_name.clone(),
            members: listed.members.clone(),
            selected: Selected {
                tcp: selected(Network::Tcp),
                udp: selected(Network::Udp),
            },
            selectable: listed.type_name == SELECTOR,
            strategy: None,
            why: None,
            decision: Decisions {
                tcp: None,
                udp: None,
            },
            report,
        }
    }

    pub(super) fn tag(&self) -> &str {
        &self.tag
    }

    /// Whether it stands as another does, whatever their reports.
    pub(super) fn stands_like(&self, other: &Self) -> bool {
        self.members == other.members
            && self.selected == other.selected
            && self.selectable == other.selectable
            && self.strategy == other.strategy
            && self.why == other.why
            && self.decision == other.decision
    }

    pub(super) fn type_name(&self) -> &str {
        &self.type_name
    }

    pub(super) fn members(&self) -> &[String] {
        &self.members
    }

    /// The member for each kind of traffic that it leads somewhere.
    pub(super) fn selected(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Selected { tcp, udp } = &self.selected;
        let each = [("tcp", tcp), ("udp", udp)].into_iter();
        each.filter_map(|(network, member)| Some((network, member.as_deref()?)))
    }

    pub(super) fn report(&self) -> &Report {
        &self.report
    }

    pub(super) fn report_mut(&mut self) -> &mut Report {
        &mut self.report
    }
}

impl From<Decision> for Decided {
    fn from(decision: Decision) -> Self {
        Self {
            event: if decision.taken { "taken" } else { "kept" },
            reason: decision.reason,
            member: decision.member,
            delay_ms: decision.delay_ms,
            fastest: decision.fastest,
            fastest_ms: decision.fastest_ms,
        }
    }
}

impl Source {
    /// The groups that these reports are of, in their order; reports of others are left out.
    pub(super) fn groups_of(&self, reports: impl IntoIterator<Item = Report>) -> Vec<Group> {
        let reports = reports.into_iter();
        let reports = reports.filter(|report| report.kind == Kind::Group);
        let groups = self.groups();
        let mut of_core = None;
        reports
            .filter_map(|report| {
                if let Some(status) = groups.as_ref().and_then(|all| all.status(&report.tag)) {
                    return Some(Group::new(status, report));
                }
                let listed = of_core.get_or_insert_with(|| self.groups_of_core());
                let listed = listed.get(&report.tag)?;
                Some(Group::of_core(self, listed, report))
            })
            .collect()
    }

    /// The group of this tag, in the view that people look at.
    pub(super) async fn group(&self, tag: &str) -> Option<Group> {
        let report = self.monitor.report(tag, View::Display).await?;
        self.groups_of([report]).pop()
    }

    /// A person chooses a member, for all traffic.
    pub(super) fn select(&self, group: &str, member: &str) -> Result<(), SelectError> {
        match self.groups() {
            Some(groups) => groups.select(group, member)?,
            None => {
                let core = self.monitor.core();
                let core = core.ok_or_else(|| SelectError::NoSuchGroup(group.to_owned()))?;
                for network in [Network::Tcp, Network::Udp] {
                    core.select(group, network, member)?;
                }
            }
        }
        self.monitor.selection_changed(group);
        Ok(())
    }

    /// The outbounds in a group and in the groups within it, each once.
    pub(super) async fn leaves(&self, group: &str) -> Vec<String> {
        let reports = self.monitor.reports(View::Confirmed).await;
        let groups = self.groups_of(reports).into_iter();
        let groups: HashMap<_, _> = groups.map(|group| (group.tag, group.members)).collect();
        let mut leaves = Vec::new();
        let mut met = HashSet::new();
        let mut ahead = vec![group.to_owned()];
        while let Some(tag) = ahead.pop() {
            if !met.insert(tag.clone()) {
                continue;
            }
            match groups.get(&tag) {
                // The first member comes off first.
                Some(members) => ahead.extend(members.iter().rev().cloned()),
                None => leaves.push(tag),
            }
        }
        leaves
    }

    fn groups_of_core(&self) -> HashMap<String, Outbound> {
        let listed = self.monitor.core().map(|core| core.list());
        let listed = listed.unwrap_or_default().into_iter();
        listed
            .filter(|one| one.kind == Kind::Group)
            .map(|one| (one.tag.clone(), one))
            .collect()
    }
}
