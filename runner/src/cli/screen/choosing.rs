//! Groups as the live table needs them: their members, where they lead, and choosing. It
//! must not know how any of it is shown.

use std::sync::Arc;

use outwatch::group::Groups;
use outwatch::{Monitor, Network, ProxyCore, SelectError};

use crate::cli::current::Current;

/// The groups of what runs.
pub(crate) struct Choosing {
    /// What dials.
    pub(crate) core: Arc<dyn ProxyCore>,
    /// The groups that choose over it; none where the core's own lead.
    pub(crate) groups: Option<Arc<Current<Groups>>>,
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
    /// How a group stands.
    pub(super) fn group(&self, tag: &str) -> Group {
        let status = self
            .groups
            .as_ref()
            .and_then(|groups| groups.get().status(tag));
        if let Some(status) = status {
            return Group {
                tag: tag.to_owned(),
                selectable: status.selectable(),
                why: status.why(),
                members: status.members,
                selected: status.tcp.or(status.udp),
            };
        }
        let listed = self.core.list().into_iter().find(|one| one.tag == tag);
        Group {
            tag: tag.to_owned(),
            selected: self.core.selected(tag, Network::Tcp),
            selectable: listed
                .as_ref()
                .is_some_and(|one| one.type_name == "selector"),
            members: listed.map(|one| one.members).unwrap_or_default(),
            why: None,
        }
    }

    /// A person chooses a member.
    pub(super) fn select(&self, group: &str, member: &str) -> Result<(), SelectError> {
        match &self.groups {
            Some(groups) => groups.get().select(group, member)?,
            None => {
                self.core.select(group, Network::Tcp, member)?;
                self.core.select(group, Network::Udp, member)?;
            }
        }
        self.monitor.selection_changed(group);
        Ok(())
    }
}
