//! The datagrams of one client through what its group picked: they are activity, end when
//! the group leads elsewhere, and their failure is told. It must not know groups.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures::future::select_all;

use super::cut;
use super::reporter::Reporter;
use crate::group::Pick;
use crate::proxy_core::{Datagrams, FetchError, Target};

/// See the module.
pub(super) struct Association {
    way: Box<dyn Datagrams>,
    pick: Pick,
    reporter: Reporter,
    /// Something came back, so that it works.
    answered: AtomicBool,
}

impl Association {
    /// Over a way through what was picked.
    pub(super) fn new(way: Box<dyn Datagrams>, pick: Pick, reporter: Reporter) -> Self {
        let answered = AtomicBool::new(false);
        Self {
            way,
            pick,
            reporter,
            answered,
        }
    }

    /// Waits for a cut, for ever if there will be none.
    async fn cut(&self) {
        let cuts = self.pick.cuts.iter();
        let cuts: Vec<_> = cuts.map(|cut| Box::pin(cut.cancelled())).collect();
        match cuts.is_empty() {
            true => std::future::pending().await,
            false => drop(select_all(cuts).await),
        }
    }
}

#[async_trait]
impl Datagrams for Association {
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        self.reporter.activity();
        self.way.send(payload, target).await
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        let received = tokio::select! {
            received = self.way.receive() => received,
            () = self.cut() => return Err(cut::error()),
        };
        let answered = self.answered.swap(received.is_ok(), Ordering::Relaxed);
        if let (Err(error), false) = (&received, answered) {
            self.reporter.failed(&self.pick, error);
        }
        received
    }
}
