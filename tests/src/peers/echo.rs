//! A server that says everything again. It must not know who speaks.

use tokio::io::{AsyncWriteExt, copy, split};

use super::local::Local;

/// Listens on 127.0.0.1.
#[derive(Debug)]
pub struct Echo(Local);

impl Echo {
    /// Starts one.
    pub fn start() -> Self {
        Self(Local::serve(|stream| async move {
            let (mut read, mut write) = split(stream);
            // Whoever closes first ends it; nobody asks why.
            let _ = copy(&mut read, &mut write).await;
            let _ = write.shutdown().await;
        }))
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.0.port()
    }
}
