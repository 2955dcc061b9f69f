//! What answers are made of: the monitor, the groups in force, and what watches them for
//! those who listen. It must not know any path.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::events::Events;
use super::log_lines::LogLines;
use crate::group::Groups;
use crate::inbound::Connections;
use crate::monitor::Monitor;

/// What answers are made of.
pub(super) struct Source {
    pub(super) monitor: Monitor,
    groups: watch::Receiver<Option<Groups>>,
    final_tag: watch::Receiver<Option<String>>,
    pub(super) connections: Connections,
    pub(super) log_lines: LogLines,
    pub(super) events: Events,
    /// Set when no more is to be answered: what streams ends then.
    pub(super) ending: CancellationToken,
}

impl Source {
    pub(super) fn new(
        monitor: Monitor,
        groups: watch::Receiver<Option<Groups>>,
        final_tag: watch::Receiver<Option<String>>,
        connections: Connections,
        log_lines: LogLines,
    ) -> Self {
        Self {
            monitor,
            groups,
            final_tag,
            connections,
            log_lines,
            events: Events::default(),
            ending: CancellationToken::new(),
        }
    }

    /// The groups that choose now, if any do here.
    pub(super) fn groups(&self) -> Option<Groups> {
        self.groups.borrow().clone()
    }

    /// The outbound or group that users' connections go through now, if any does.
    pub(super) fn final_tag(&self) -> Option<String> {
        self.final_tag.borrow().clone()
    }

    /// Tells when others take their place.
    pub(super) fn follow_groups(&self) -> watch::Receiver<Option<Groups>> {
        self.groups.clone()
    }
}
