//! What groups lead to, as they were told: it outlasts every sing-box.
//! It must not know whether sing-box has heard of it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::config::Entry;
use crate::proxy_core::Network;

/// The selections made so far, by tag; for TCP and for UDP.
#[derive(Debug, Default)]
pub(super) struct Selections(Mutex<HashMap<String, [Option<String>; 2]>>);

impl Selections {
    /// The member that `group` leads to; none before the first choice. A selector starts
    /// with its `default`, else its first member.
    pub(super) fn of(&self, group: &Entry, network: Network) -> Option<String> {
        let made = self.lock();
        let made = made
            .get(&group.tag)
            .and_then(|made| made[place(network)].as_ref());
        // A selection made before the config changed may be none any more.
        if let Some(member) = made.filter(|member| group.members.contains(member)) {
            return Some(member.clone());
        }
        if group.type_name != "selector" {
            return None;
        }
        group
            .default
            .clone()
            .or_else(|| group.members.first().cloned())
    }

    pub(super) fn set(&self, group: &str, network: Network, member: &str) {
        self.lock().entry(group.to_owned()).or_default()[place(network)] = Some(member.to_owned());
    }

    /// Whoever panicked held it for an insertion at most.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, [Option<String>; 2]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(network: Network) -> usize {
    match network {
        Network::Tcp => 0,
        Network::Udp => 1,
    }
}
