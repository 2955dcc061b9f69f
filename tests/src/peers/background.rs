//! A runtime on a thread of its own, for servers inside the test's process. It must
//! not know what they do.

use std::ops::Deref;

use tokio::runtime::{Builder, Runtime};

/// Ends, with all it runs, when dropped: in an async test too, where waiting for it
/// would not be allowed.
#[derive(Debug)]
pub(super) struct Background(Option<Runtime>);

impl Background {
    /// # Panics
    /// When the system has no thread left.
    pub(super) fn start() -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        Self(Some(runtime.expect("a runtime")))
    }
}

impl Deref for Background {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("a runtime until it is dropped")
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
