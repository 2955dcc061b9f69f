//! What a connection has carried, and its end on request. It must not know the connection.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures::task::AtomicWaker;

use super::Carried;
use crate::proxy_core::{Cause, FetchError, Phase};

/// See the module. One task waits for the end at a time: the one that relays.
#[derive(Debug, Default)]
pub(in crate::inbound) struct Meter {
    pub(in crate::inbound) up: AtomicU64,
    pub(in crate::inbound) down: AtomicU64,
    closed: AtomicBool,
    waiting: AtomicWaker,
}

impl Meter {
    pub(super) fn carried(&self) -> Carried {
        Carried {
            up: self.up.load(Ordering::Relaxed),
            down: self.down.load(Ordering::Relaxed),
        }
    }

    /// Ends the connection: at once if somebody waits for its end, else once somebody does.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.waiting.wake();
    }

    /// Waits for the end.
    pub(in crate::inbound) async fn closed(&self) -> FetchError {
        std::future::poll_fn(|context| self.poll_closed(context)).await
    }

    pub(super) fn poll_closed(&self, context: &mut Context<'_>) -> Poll<FetchError> {
        self.waiting.register(context.waker());
        match self.closed.load(Ordering::Acquire) {
            true => {
                let error = FetchError::new(Phase::Dial, Cause::Reset, "it was closed on request");
                Poll::Ready(error)
            }
            false => Poll::Pending,
        }
    }
}

/// Counts `bytes` more.
pub(in crate::inbound) fn count(counter: &AtomicU64, bytes: usize) {
    counter.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// The end, as a stream has it.
pub(super) fn aborted(error: FetchError) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, error)
}
