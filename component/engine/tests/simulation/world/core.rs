//! A random core: outbounds of every kind that lead and dial anywhere, and how they
//! change. It must not know what is found out about them.

use std::collections::{BTreeMap, BTreeSet};

use outwatch_engine::{Input, Kind, Outbound, Selection};

use crate::random::Random;

/// Tags that may be there; more are asked for.
const TAGS: u64 = 12;
const KINDS: [Kind; 7] = [
    Kind::Outbound,
    Kind::Outbound,
    Kind::Outbound,
    Kind::Endpoint,
    Kind::Group,
    Kind::Group,
    Kind::Untestable,
];

#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) outbounds: Vec<Outbound>,
    /// What each group was last told to select, member or not.
    selected: BTreeMap<String, Selection>,
}

/// Any tag, of an outbound that is there or not; some are hard to write.
pub(super) fn tag(random: &mut Random) -> String {
    match random.below(TAGS + 2) {
        3 => "t3 \"x\"=1\n".into(),
        4 => "🇩🇪/t4%#".into(),
        nth => format!("t{nth}"),
    }
}

impl Core {
    pub(super) fn random(random: &mut Random) -> Self {
        let mut tags: BTreeSet<String> = (0..TAGS * 2).map(|_| tag(random)).collect();
        if random.one_in(20) {
            tags.clear();
        }
        let outbounds = tags.into_iter().map(|tag| outbound(random, tag)).collect();
        let mut core = Self {
            outbounds,
            selected: BTreeMap::new(),
        };
        for group in core.groups() {
            let selection = core.selection(random, group);
            core.selected.insert(selection.group.clone(), selection);
        }
        core
    }

    pub(super) fn groups(&self) -> Vec<String> {
        let groups = self.entries().filter(|one| one.kind == Kind::Group);
        groups.map(|group| group.tag.clone()).collect()
    }

    /// What is there: of equal tags the first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Outbound> {
        let mut seen = BTreeSet::new();
        self.outbounds
            .iter()
            .filter(move |one| seen.insert(one.tag.as_str()))
    }

    pub(crate) fn find(&self, tag: &str) -> Option<&Outbound> {
        self.outbounds.iter().find(|one| one.tag == tag)
    }

    pub(super) fn selections(&self) -> Vec<Selection> {
        self.selected.values().cloned().collect()
    }

    pub(super) fn selected(&self, group: &str) -> Option<&Selection> {
        self.selected.get(group)
    }

    /// Mostly a member, sometimes anything, sometimes nothing.
    pub(super) fn selection(&self, random: &mut Random, group: String) -> Selection {
        let mut member = || {
            let members = self.find(&group).map(|group| group.members.as_slice());
            match members.filter(|members| !members.is_empty() && !random.one_in(8)) {
                Some(members) => (!random.one_in(6)).then(|| random.pick(members)),
                None => Some(tag(random)),
            }
        };
        Selection {
            tcp: member(),
            udp: member(),
            group,
        }
    }

    /// Keeps up with what the monitor is told.
    pub(super) fn take(&mut self, input: &Input) {
        if let Input::Selected(selection) = input
            && self.find(&selection.group).is_some_and(is_group)
        {
            self.selected
                .insert(selection.group.clone(), selection.clone());
        }
        if let Input::Outbounds {
            outbounds,
            selections,
        } = input
        {
            self.outbounds.clone_from(outbounds);
            self.selected = selections
                .iter()
                .map(|one| (one.group.clone(), one.clone()))
                .collect();
        }
    }

    /// Where an entry leads to in the end: itself, or through selections.
    pub(crate) fn leaf<'a>(&'a self, tag: &'a str) -> Option<&'a Outbound> {
        let mut at = self.find(tag)?;
        for _ in 0..=self.outbounds.len() {
            if !is_group(at) {
                return Some(at);
            }
            at = self.choice(at)?;
        }
        None
    }

    /// What a group leads to; one that is no member is no choice.
    fn choice(&self, group: &Outbound) -> Option<&Outbound> {
        let selected = self.selected.get(&group.tag)?.tcp.as_ref()?;
        let is_member = group.members.contains(selected);
        is_member.then(|| self.find(selected))?
    }

    /// An entry and all below it.
    pub(crate) fn within(&self, tag: &str) -> BTreeSet<&str> {
        self.below(tag, |group| self.members(group))
    }

    /// The same, but only what a group leads to where it has chosen.
    pub(crate) fn candidates(&self, tag: &str) -> BTreeSet<&str> {
        let below = self.below(tag, |group| match self.choice(group) {
            Some(chosen) => vec![chosen],
            None => self.members(group),
        });
        let tested = |tag: &&str| self.find(tag).is_some_and(is_testable);
        below.into_iter().filter(tested).collect()
    }

    fn below<'a>(
        &'a self,
        tag: &str,
        next: impl Fn(&'a Outbound) -> Vec<&'a Outbound>,
    ) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&Outbound> = self.find(tag).into_iter().collect();
        while let Some(entry) = open.pop() {
            if seen.insert(entry.tag.as_str()) && is_group(entry) {
                open.extend(next(entry));
            }
        }
        seen
    }

    fn members(&self, group: &Outbound) -> Vec<&Outbound> {
        let members = group.members.iter();
        members.filter_map(|member| self.find(member)).collect()
    }
}

pub(crate) fn is_testable(outbound: &Outbound) -> bool {
    matches!(outbound.kind, Kind::Outbound | Kind::Endpoint)
}

fn is_group(outbound: &Outbound) -> bool {
    outbound.kind == Kind::Group
}

pub(super) fn outbound(random: &mut Random, name: String) -> Outbound {
    let kind = random.pick(&KINDS);
    let members = if kind == Kind::Group {
        random.below(5)
    } else {
        0
    };
    Outbound {
        tag: name,
        type_name: random.pick(&["socks", "http"]).into(),
        kind,
        detour: random.one_in(4).then(|| tag(random)),
        members: (0..members).map(|_| tag(random)).collect(),
        fingerprint: format!("{}", random.below(2)),
        exit_follows_host: random.one_in(4),
    }
}
