//! The wish of a person or a system that this ends: Ctrl-C, or a signal to
//! terminate. It must not know what ends.

use std::io;

/// Waits for the wish to end. From its making on, the process is no longer killed
/// by these signals.
pub(crate) struct Interrupt {
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 2],
}

impl Interrupt {
    /// Takes over the signals.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let signals = [
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
            ];
            Ok(Self { signals })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Ends at the next wish.
    pub(crate) async fn wished(&mut self) {
        #[cfg(unix)]
        {
            let [interrupt, terminate] = &mut self.signals;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
