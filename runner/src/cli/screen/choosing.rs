//! Groups as the live table needs them: their members, where they lead, and choosing. It
//! must not know how any of it is shown.

use std::sync::Arc;

use outwatch::group::Groups;
use outwatch::{Monitor, SelectError};

use crate::cli::current::Current;

/// The groups of what runs.
pub(crate) struct Choosing {
    /// Those that are in force.
    pub(crate) groups: Arc<Current<Groups>>,
    /// Hears of every choice.
    pub(crate) monitor: Monitor,
}

/// A group at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) tag: String,
    pub(super) members: Vec<String>,
    /// Where its connections go.
    pub(super) selected: Option<String>,
    /// Whether a person chooses.
    pub(super) selectable: bool,
    /// Why it leads there.
    pub(super) why: Option<String>,
}

impl Choosing {
    /// How a group stands; without members if there is none of this tag any more.
    pub(super) fn group(&self, tag: &str) -> Group {
        let known = self.groups.get().status(tag).map(|status| Group {
            tag: tag.to_owned(),
            selectable: status.selectable(),
            why: status.why(),
            members: status.members,
            selected: status.tcp.or(status.udp),
        });
        known.unwrap_or_else(|| Group {
            tag: tag.to_owned(),
            ..Group::default()
        })
    }

    /// A person chooses a member.
    pub(super) fn select(&self, group: &str, member: &str) -> Result<(), SelectError> {
        self.groups.get().select(group, member)?;
        self.monitor.selection_changed(group);
        Ok(())
    }
}
