//! The threads that users' connections run on, beside the one that all else runs on. It
//! must not know what a connection is.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// Threads, as many as there are processors. There are none before they are needed.
#[derive(Debug, Default)]
pub(crate) struct Workers(Option<Runtime>);

impl Workers {
    /// Has what `start` spawns run on these threads.
    ///
    /// # Errors
    /// When the system has no more threads.
    pub(crate) fn run<T>(&mut self, start: impl FnOnce() -> T) -> io::Result<T> {
        let runtime = match self.0.take() {
            Some(runtime) => runtime,
            None => Builder::new_multi_thread()
                .thread_name("outwatch-traffic")
                .enable_all()
                .build()?,
        };
        let _on_them = self.0.insert(runtime).enter();
        Ok(start())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Where this is dropped, nothing may wait.
            runtime.shutdown_background();
        }
    }
}
