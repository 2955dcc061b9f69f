//! What answers are made of: the monitor, the groups in force, and what watches them for
//! those who listen. It must not know any path.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::events::Events;
use super::log_lines::LogLines;
#[cfg(feature = "compiler")]
use crate::engine::CodeCache;
use crate::group::Groups;
use crate::inbound::Connections;
use crate::monitor::Monitor;

/// How many may watch by a websocket; a dashboard takes four.
const WEBSOCKETS: usize = 128;

/// What answers are made of.
pub(super) struct Source {
    pub(super) monitor: Monitor,
    groups: watch::Receiver<Option<Groups>>,
    final_tag: watch::Receiver<Option<String>>,
    pub(super) connections: Connections,
    pub(super) log_lines: LogLines,
    /// Room for those who watch by a websocket.
    pub(super) websockets: Arc<Semaphore>,
    /// Where the code of a component is kept that is to run.
    #[cfg(feature = "compiler")]
    pub(super) code: Option<CodeCache>,
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
            websockets: Arc::new(Semaphore::new(WEBSOCKETS)),
            #[cfg(feature = "compiler")]
            code: None,
            events: Events::default(),
            ending: CancellationToken::new(),
        }
    }

    /// Keeps the code there of components that are to run.
    #[cfg(feature = "compiler")]
    pub(super) fn keeping_code(mut self, code: Option<CodeCache>) -> Self {
        self.code = code;
        self
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
