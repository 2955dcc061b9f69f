//! What every version of the contract comes down to: an engine that is started, asked,
//! told and replaced, in this crate's own words. Each version has a track of its own that
//! speaks them; which one a component needs is read off its exports. It must not know the
//! driver, nor what any version looks like.

use std::pin::Pin;
use std::task::{Context, Poll};

use async_trait::async_trait;
use wasmtime::component::{
    Accessor, Component as Wasm, Lift, Source, StreamConsumer, StreamResult,
};
use wasmtime::{Engine, Store, StoreContextMut};

use super::{contract, v0_1};
use crate::host::{self, HostState};
use crate::monitor::{Fault, TestError};
use crate::report::{Measurement, Problem, Report, Scope, Update, View};

/// What someone tells an engine.
#[derive(Clone, Debug)]
pub(crate) enum Hook {
    Activity,
    NetworkChanged,
    ConnectionFailed {
        tag: String,
        group: Option<String>,
        fault: Fault,
    },
    SelectionChanged(String),
    OutboundReady(String),
    OutboundsChanged,
    Pause,
    Resume,
}

/// A component that fits a track.
#[async_trait]
pub(crate) trait Fitted: Send + Sync {
    /// The engine that it was compiled for.
    fn engine(&self) -> &Engine;

    async fn instantiate(&self, store: &mut Store<HostState>)
    -> wasmtime::Result<Box<dyn Exports>>;
}

/// The exports of an instance, see `wit/`. An error is a trap: the instance is lost.
#[async_trait]
pub(crate) trait Exports: Send + Sync {
    /// Gives the warnings, or what is wrong with the options.
    async fn start(
        &self,
        to: &Guest,
        options: String,
    ) -> Answer<Result<Vec<Problem>, Vec<Problem>>>;
    async fn run(&self, to: &Guest) -> Answer<Result<(), String>>;
    async fn stop(&self, to: &Guest) -> Answer<()>;
    async fn test(&self, to: &Guest, tag: String) -> Answer<Result<Report, TestError>>;
    /// Has `reader` take the updates from now on.
    async fn subscribe(
        &self,
        to: &Guest,
        scope: Scope,
        view: View,
        reader: Box<dyn Reader>,
    ) -> Answer<()>;
    async fn report(&self, to: &Guest, tag: String, view: View) -> Answer<Option<Report>>;
    async fn reports(&self, to: &Guest, view: View) -> Answer<Vec<Report>>;
    /// For each tag, oldest first.
    async fn measurements(&self, to: &Guest, tags: Vec<String>) -> Answer<Vec<Vec<Measurement>>>;
    async fn options(&self, to: &Guest) -> Answer<String>;
    async fn service_hosts(&self, to: &Guest) -> Answer<Vec<String>>;
    async fn tell(&self, to: &Guest, hook: Hook) -> Answer<()>;
    async fn give(&self, to: &Guest) -> Answer<Vec<u8>>;
    async fn take(&self, to: &Guest, given: Vec<u8>) -> Answer<Result<(), String>>;
}

/// The way into an instance.
pub(crate) type Guest = Accessor<HostState>;

/// What an export answers.
pub(crate) type Answer<T> = wasmtime::Result<T>;

/// Takes the updates of one subscription, one at a time.
pub(crate) trait Reader: Send + 'static {
    /// Whether it can take one; an error when nobody reads any more.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>>;

    /// Takes one, after it was ready.
    fn take(&mut self, update: Update) -> Result<(), Gone>;
}

/// Nobody reads a stream any more.
#[derive(Debug)]
pub(crate) struct Gone;

/// A stream of a track's updates, on its way to a reader.
pub(crate) struct Pipe<T> {
    pub(crate) reader: Box<dyn Reader>,
    pub(crate) read: fn(T) -> Update,
}

impl<T: Lift + Send + 'static> StreamConsumer<HostState> for Pipe<T> {
    type Item = T;

    fn poll_consume(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        store: StoreContextMut<'_, HostState>,
        mut source: Source<'_, T>,
        finish: bool,
    ) -> Poll<wasmtime::Result<StreamResult>> {
        let taken = match self.reader.poll_ready(context) {
            Poll::Ready(Ok(())) => {
                let mut update = None;
                source.read(store, &mut update)?;
                match update.map(self.read) {
                    Some(update) => self.reader.take(update),
                    None => Ok(()),
                }
            }
            Poll::Ready(Err(gone)) => Err(gone),
            Poll::Pending if finish => return Poll::Ready(Ok(StreamResult::Cancelled)),
            Poll::Pending => return Poll::Pending,
        };
        Poll::Ready(Ok(match taken {
            Ok(()) => StreamResult::Completed,
            Err(Gone) => StreamResult::Dropped,
        }))
    }
}

/// Why a component cannot be hosted, for people.
pub(crate) enum Misfit {
    /// It is of no contract that there is a track for.
    Unknown(String),
    /// It is not what its contract says.
    Different(String),
}

/// The track that a component needs, by the contract that its exports name; and the name of
/// that.
pub(crate) fn fit(engine: &Engine, component: &Wasm) -> Result<(Box<dyn Fitted>, String), Misfit> {
    let contract = contract::of(engine, component).map_err(Misfit::Unknown)?;
    let fitted = match contract.track() {
        Some((0, 1)) => host::linker(engine).and_then(|linker| v0_1::fit(&linker, component)),
        #[cfg(test)]
        Some((0, 2)) => super::v0_2::fit(engine, component),
        _ => {
            let what = format!("is an engine of the contract outwatch:monitor@{contract}");
            return Err(Misfit::Unknown(what));
        }
    };
    match fitted {
        Ok(fitted) => Ok((fitted, format!("outwatch:monitor@{contract}"))),
        Err(error) => Err(Misfit::Different(format!("{error:#}"))),
    }
}
