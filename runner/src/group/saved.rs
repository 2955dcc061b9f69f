//! Where a group led when it was last saved (G-1, G-5). It must not know when that is.

use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::store::Cache;

/// What stands before a group's tag in its key; the monitor's own keys begin otherwise.
const PREFIX: &str = "group/";

/// The members that a group led to, by their tags.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Saved {
    pub(super) tcp: Option<String>,
    pub(super) udp: Option<String>,
}

impl Saved {
    /// What was saved of a group; nothing if that is not to be read.
    pub(super) fn load(cache: &dyn Cache, group: &str) -> Self {
        match cache.get(&key(group)) {
            Ok(Some(bytes)) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                warn!("what was saved of the group {group:?} is left out: {error}");
                Self::default()
            }),
            Ok(None) => Self::default(),
            Err(error) => {
                warn!("where the group {group:?} led cannot be read: {error}");
                Self::default()
            }
        }
    }

    pub(super) fn store(&self, cache: &dyn Cache, group: &str) {
        let stored = serde_json::to_vec(self).map(|bytes| cache.set(&key(group), &bytes));
        if let Ok(Err(error)) = stored {
            warn!("where the group {group:?} leads cannot be saved: {error}");
        }
    }
}

fn key(group: &str) -> String {
    format!("{PREFIX}{group}")
}
