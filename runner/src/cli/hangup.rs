//! The signal that asks to read the config again, and that also says that the terminal
//! is gone. It must not know what is read.

use std::io;

/// Waits for the signal. From its making on, the process is no longer killed by it.
pub(crate) struct Hangup {
    #[cfg(unix)]
    signals: tokio::signal::unix::Signal,
    #[cfg(unix)]
    on_a_terminal: bool,
}

/// What the signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "there is no such signal"))]
pub(crate) enum Wish {
    /// To read the config again.
    Reload,
    /// The terminal that this was started on was closed: to end, as without this.
    End,
}

impl Hangup {
    /// Takes over the signal.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                signals: signal(SignalKind::hangup())?,
                on_a_terminal: is_on_a_terminal(),
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// What the next signal means. Nothing is lost if the wait is given up.
    #[cfg_attr(not(unix), allow(clippy::unused_async, reason = "it never comes"))]
    pub(crate) async fn wish(&mut self) -> Wish {
        #[cfg(unix)]
        if self.signals.recv().await.is_some() {
            return if self.on_a_terminal && !is_on_a_terminal() {
                Wish::End
            } else {
                Wish::Reload
            };
        }
        std::future::pending().await
    }
}

/// A terminal that was closed is none any more.
#[cfg(unix)]
fn is_on_a_terminal() -> bool {
    use std::io::IsTerminal as _;
    io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal()
}
