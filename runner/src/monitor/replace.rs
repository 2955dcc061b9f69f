//! Another component for a monitor that runs. It must not know how one gives way to the
//! other; the driver does.

use tokio::sync::oneshot;

use super::{Monitor, StartError};
use crate::driver::{self, Command, Replacement};
use crate::engine::Component;
use crate::report::Problem;

impl Monitor {
    /// Puts another component in the place of the one that runs, which takes over all
    /// results, measurements and whoever asks and watches: nobody notices.
    ///
    /// All or nothing. First it is tried whether it starts with the options and a copy of
    /// what is saved; until then nothing has changed. Then the one before ends in order
    /// and the new one takes over. For its first minute it is on trial: if it fails, the
    /// one before is back, with all that it had, and what the new one saved is dropped.
    /// [`Replaced::stood_its_trial`] waits for the outcome; the log tells it in any case.
    ///
    /// # Errors
    /// When it does not start; the one before goes on. [`Component::from_bytes`] has told
    /// before what does not fit the contract.
    pub async fn replace_component(&self, component: Component) -> Result<Replaced, ReplaceError> {
        let stand = self.shared.stand.upgrade().ok_or(ReplaceError::Stopped)?;
        driver::rehearse(&stand, &component).await?;
        drop(stand);
        let (reply, answer) = oneshot::channel();
        self.send(Command::Replace(Replacement { component, reply }));
        answer.await.unwrap_or(Err(ReplaceError::Stopped))
    }
}

/// A component has taken the place of another.
#[derive(Debug)]
pub struct Replaced {
    before: Component,
    warnings: Vec<Problem>,
    outcome: oneshot::Receiver<Result<(), String>>,
}

impl Replaced {
    pub(crate) fn new(
        before: Component,
        warnings: Vec<Problem>,
        outcome: oneshot::Receiver<Result<(), String>>,
    ) -> Self {
        Self {
            before,
            warnings,
            outcome,
        }
    }

    /// The component that was replaced.
    pub fn before(&self) -> &Component {
        &self.before
    }

    /// What the new one finds doubtful about the options.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Waits until the new one has run for a minute, or the monitor has been stopped
    /// before.
    ///
    /// # Errors
    /// When the new one failed, and the one before is back.
    pub async fn stood_its_trial(self) -> Result<(), ReplaceError> {
        match self.outcome.await {
            Ok(outcome) => outcome.map_err(ReplaceError::RolledBack),
            Err(_) => Err(ReplaceError::Stopped),
        }
    }
}

/// Why a component is not in the place of another.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// It does not start; the one before goes on.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It failed in its first minute, and the one before is back; or another took its
    /// place in that minute.
    #[error("it did not stand its first minute: {0}")]
    RolledBack(String),
    /// The monitor was stopped first.
    #[error("the monitor was stopped first")]
    Stopped,
}
