//! What can go wrong with a monitor, for who holds it. It must not know how it is told.

use crate::engine::LoadError;
use crate::report::Problem;

/// Why a monitor does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The options are wrong; every problem found, with paths within the options.
    #[error("the monitoring options are wrong")]
    Options(Vec<Problem>),
    /// The component cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The component failed while it started.
    #[error("the component failed to start: {0}")]
    Component(String),
}

/// Why an asked-for test gave no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// No outbound or group has this tag.
    #[error("no outbound or group has this tag")]
    UnknownTag,
    /// It is never tested.
    #[error("it is never tested")]
    Untestable,
    /// It cannot be tested now; it will be once it is ready.
    #[error("it is not ready: {0}")]
    NotReady(String),
    /// The monitor was stopped first.
    #[error("the monitor was stopped first")]
    Stopped,
}

/// Why a monitor ended otherwise than by being stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopError {
    /// The component failed again and again.
    #[error("the component failed again and again, the last time so: {0}")]
    GaveUp(String),
    /// The runtime that the monitor ran on was shut down.
    #[error("the runtime that the monitor ran on was shut down")]
    Lost,
}
