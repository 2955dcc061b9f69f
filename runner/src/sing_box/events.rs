//! What happens to sing-box, for whoever listens. It must not know who does.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

use super::state::{Live, Now, Shared, State};

/// What happens to a core of its own accord.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoreEvent {
    /// These can be tested now; tell the monitor by its hook `outbound_ready`.
    Ready(Vec<String>),
    /// None can; the text says why.
    NotReady(String),
}

/// The events of one core.
pub struct CoreEvents {
    moments: watch::Receiver<Arc<Now>>,
    /// The one that its listener knows to be up.
    last: Option<Arc<Live>>,
}

impl CoreEvents {
    /// Those from now on.
    pub(super) fn of(shared: &Shared) -> Self {
        Self {
            moments: shared.now.subscribe(),
            last: shared.live(),
        }
    }

    /// Waits for the next event; none when the core was stopped. One who listens slowly hears
    /// of the last state, not of every one.
    pub async fn next(&mut self) -> Option<CoreEvent> {
        loop {
            self.moments.changed().await.ok()?;
            let now = self.moments.borrow_and_update().clone();
            match &now.state {
                State::Up(live) => {
                    if self
                        .last
                        .as_ref()
                        .is_some_and(|last| Arc::ptr_eq(last, live))
                    {
                        continue;
                    }
                    self.last = Some(live.clone());
                    return Some(CoreEvent::Ready(now.outbounds.tags().collect()));
                }
                State::Down(why) => {
                    self.last = None;
                    return Some(CoreEvent::NotReady(why.clone()));
                }
                State::Stopped => return None,
            }
        }
    }
}

impl fmt::Debug for CoreEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreEvents")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}
