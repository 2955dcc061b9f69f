//! Groups: outbounds made of members, one of which is selected.
//! It must not know why a member is selected, nor how members dial.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::node::Common;
use crate::config::Entry;
use crate::proxy_core::Network;

/// A group's members, and which of them it leads to.
pub(super) struct Group {
    members: Vec<usize>,
    /// For TCP and for UDP: a place in the whole list of outbounds; [`NONE`] before the
    /// first choice.
    selected: [AtomicUsize; 2],
}

const NONE: usize = usize::MAX;

impl Group {
    /// The group that `entry` describes. A selector starts with its `default`, else
    /// its first member; the others have chosen nothing yet.
    pub(super) fn read(entry: &Entry, common: &Common<'_>) -> Self {
        let members: Vec<usize> = entry
            .members
            .iter()
            .filter_map(|tag| common.place(tag))
            .collect();
        let chosen = match entry.type_name.as_str() {
            "selector" => {
                let default = entry.default.as_ref();
                let default = default.and_then(|tag| common.place(tag));
                default.or_else(|| members.first().copied())
            }
            _ => None,
        };
        let chosen = chosen.unwrap_or(NONE);
        Self {
            selected: [AtomicUsize::new(chosen), AtomicUsize::new(chosen)],
            members,
        }
    }

    /// The places of its members in the whole list of outbounds.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> {
        self.members.iter().copied()
    }

    /// The member that it leads to; none before the first choice.
    pub(super) fn selected(&self, network: Network) -> Option<usize> {
        let selected = self.of(network).load(Ordering::Relaxed);
        Some(selected).filter(|index| *index != NONE)
    }

    /// Whether `member` is one, and so selected now.
    pub(super) fn select(&self, network: Network, member: usize) -> bool {
        let known = self.members.contains(&member);
        if known {
            self.of(network).store(member, Ordering::Relaxed);
        }
        known
    }

    fn of(&self, network: Network) -> &AtomicUsize {
        let [tcp, udp] = &self.selected;
        match network {
            Network::Tcp => tcp,
            Network::Udp => udp,
        }
    }

    /// The first member that is `good`; the first of all if none is.
    pub(super) fn first(&self, good: impl Fn(usize) -> bool) -> Option<usize> {
        let first_good = self.members.iter().find(|member| good(**member));
        first_good.or_else(|| self.members.first()).copied()
    }
}
