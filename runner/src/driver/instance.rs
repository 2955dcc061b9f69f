//! One instance of a component before it runs: made, started, and asked what can be
//! asked of one that stands still. It must not outlive a failure; the driver makes a new
//! one.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{mpsc, watch};
use wasmtime::Store;

use super::life::{Left, Life};
use super::trial::Trial;
use super::{Command, Open};
use crate::engine::Component;
use crate::engine::limits::{self, Entry};
use crate::engine::track::{Answer, Exports};
use crate::host::{HostState, World};
use crate::monitor::StartError;
use crate::report::Problem;

pub(crate) struct Instance {
    store: Store<HostState>,
    exports: Box<dyn Exports>,
    entry: Arc<Entry>,
}

impl Instance {
    pub(super) async fn new(component: &Component, world: World) -> Result<Self, StartError> {
        let fitted = component.fitted();
        let limits = world.limits;
        let mut store = Store::new(fitted.engine(), HostState::new(world));
        let entry = limits::apply(&mut store, &limits);
        let exports = watched(&entry, fitted.instantiate(&mut store))
            .await
            .map_err(failed)?;
        Ok(Self {
            store,
            exports,
            entry,
        })
    }

    /// Hands over the options; gives the warnings.
    pub(super) async fn start(&mut self, options: &str) -> Result<Vec<Problem>, StartError> {
        let (exports, options) = (&*self.exports, options.to_owned());
        let call = self
            .store
            .run_concurrent(async |guest| exports.start(guest, options).await);
        let started = watched(&self.entry, call).await.flatten().map_err(failed)?;
        started.map_err(StartError::Options)
    }

    /// Hands over what another instance left; an error says why it goes on without.
    pub(super) async fn take(&mut self, given: Vec<u8>) -> Result<Result<(), String>, StartError> {
        let exports = &*self.exports;
        let call = self
            .store
            .run_concurrent(async |guest| exports.take(guest, given).await);
        watched(&self.entry, call).await.flatten().map_err(failed)
    }

    /// The options in force.
    pub(super) async fn options(&mut self) -> Result<String, StartError> {
        let exports = &*self.exports;
        let call = self
            .store
            .run_concurrent(async |guest| exports.options(guest).await);
        watched(&self.entry, call).await.flatten().map_err(failed)
    }

    /// Runs until told to stop or to give way to another; an error is a failure of the
    /// component.
    pub(super) async fn live(
        mut self,
        requests: &mut mpsc::UnboundedReceiver<Command>,
        stopping: &mut watch::Receiver<bool>,
        open: &mut Open,
        trial: &mut Option<Trial>,
    ) -> Answer<Left> {
        let exports = &*self.exports;
        let life = self.store.run_concurrent(async |guest| {
            let life = Life::new(exports, guest, open);
            let life = life.lead(requests, stopping, trial);
            // The store polls this with each step of the guest, most of which are no news
            // to it; in here it is polled when it was woken.
            let mut life = FuturesUnordered::from_iter([life]);
            life.select_next_some().await
        });
        watched(&self.entry, life).await.flatten()
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn failed(error: wasmtime::Error) -> StartError {
    StartError::Component(format!("{error:?}"))
}

/// Polls a future that enters the guest under the watchdog's eyes.
async fn watched<F: Future>(entry: &Entry, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| entry.enter(|| future.as_mut().poll(context))).await
}
