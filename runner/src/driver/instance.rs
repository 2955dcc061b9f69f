//! One instance of the component, from its start to its end: each request becomes a
//! call of an export. It must not outlive a failure; the driver makes a new one.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::channel::mpsc as bounded;
use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{mpsc, watch};
use wasmtime::component::{Accessor, Source, StreamConsumer, StreamReader, StreamResult};
use wasmtime::{Store, StoreContextMut};

use super::{Command, Hook, Open, stop_wanted};
use crate::engine::Component;
use crate::engine::limits::{self, Entry};
use crate::engine::v0_1::{self, World as Exports, control, hooks};
use crate::host::{HostState, World};
use crate::monitor::{Fault, StartError, TestError};
use crate::report::{Problem, Severity, Update};

/// How long a component may take to save and end after it was told to stop.
const STOP_WITHIN: Duration = Duration::from_secs(5);

pub(crate) struct Instance {
    store: Store<HostState>,
    exports: Exports,
    entry: Arc<Entry>,
}

impl Instance {
    pub(super) async fn new(component: &Component, world: World) -> Result<Self, StartError> {
        let pre = component.pre();
        let mut store = Store::new(pre.engine(), HostState::new(world));
        let entry = limits::apply(&mut store);
        let exports = watched(&entry, pre.instantiate_async(&mut store))
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
        let control = self.exports.outwatch_monitor_control();
        let options = options.to_owned();
        let call = self
            .store
            .run_concurrent(async |accessor| control.call_start(accessor, options).await);
        match watched(&self.entry, call).await.flatten().map_err(failed)? {
            Ok(warnings) => Ok(v0_1::problems_in(warnings, Severity::Warning)),
            Err(errors) => Err(StartError::Options(v0_1::problems_in(
                errors,
                Severity::Error,
            ))),
        }
    }

    /// The options in force.
    pub(super) async fn options(&mut self) -> Result<String, StartError> {
        let control = self.exports.outwatch_monitor_control();
        let call = self
            .store
            .run_concurrent(async |accessor| control.call_options(accessor).await);
        watched(&self.entry, call).await.flatten().map_err(failed)
    }

    /// Runs until told to stop; an error is a failure of the component.
    pub(super) async fn live(
        mut self,
        requests: &mut mpsc::UnboundedReceiver<Command>,
        stopping: &mut watch::Receiver<bool>,
        open: &mut Open,
    ) -> wasmtime::Result<()> {
        let exports = &self.exports;
        let life = self.store.run_concurrent(async |accessor| {
            Life {
                exports,
                accessor,
                calls: FuturesUnordered::new(),
                open,
            }
            .lead(requests, stopping)
            .await
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

/// An instance that runs, and the calls into it that have not returned.
struct Life<'a> {
    exports: &'a Exports,
    accessor: &'a Accessor<HostState>,
    calls: FuturesUnordered<Pin<Box<dyn Future<Output = wasmtime::Result<Done>> + Send + 'a>>>,
    open: &'a mut Open,
}

/// What a returned call leaves to do.
enum Done {
    Nothing,
    Test(u64, Box<Result<control::Report, control::TestError>>),
}

impl Life<'_> {
    async fn lead(
        mut self,
        requests: &mut mpsc::UnboundedReceiver<Command>,
        stopping: &mut watch::Receiver<bool>,
    ) -> wasmtime::Result<()> {
        if self.open.paused {
            // Before the first step, which would start tests.
            self.exports
                .outwatch_monitor_hooks()
                .call_pause(self.accessor)
                .await?;
        }
        self.take_over();
        let mut run = pin!(
            self.exports
                .outwatch_monitor_control()
                .call_run(self.accessor)
        );
        let mut given_up = pin!(async {
            stop_wanted(stopping).await;
            self.exports
                .outwatch_monitor_control()
                .call_stop(self.accessor)
                .await?;
            tokio::time::sleep(STOP_WITHIN).await;
            wasmtime::Result::Ok(())
        });
        loop {
            tokio::select! {
                ended = &mut run => {
                    return match ended? {
                        Ok(()) => Ok(()),
                        Err(reason) => Err(wasmtime::Error::msg(reason)),
                    };
                }
                // It was told to stop and did not: what it has not saved is lost.
                late = &mut given_up => return late,
                Some(done) = self.calls.next() => self.finish(done?),
                Some(command) = requests.recv() => self.pass(command),
            }
        }
    }

    /// Asks and subscribes again for everyone who waited on an earlier instance.
    fn take_over(&mut self) {
        let tests: Vec<_> = self
            .open
            .tests
            .iter()
            .map(|(&test, (tag, _))| (test, tag.clone()))
            .collect();
        for (test, tag) in tests {
            self.test(test, tag);
        }
        for (scope, view, sender) in self.open.subscriptions.clone() {
            self.subscribe(v0_1::filter_out(scope, view), sender);
        }
    }

    fn pass(&mut self, command: Command) {
        let control = self.exports.outwatch_monitor_control();
        let accessor = self.accessor;
        match command {
            Command::Test { tag, reply } => {
                let test = self.open.ask(tag.clone(), reply);
                self.test(test, tag);
            }
            Command::Subscribe {
                scope,
                view,
                sender,
            } => {
                self.open.subscribe(scope.clone(), view, sender.clone());
                self.subscribe(v0_1::filter_out(scope, view), sender);
            }
            Command::Report { tag, view, reply } => self.call(async move {
                let report = control
                    .call_report_of(accessor, tag, v0_1::view_out(view))
                    .await?;
                // One who no longer waits needs no answer; so below.
                let _ = reply.send(report.map(v0_1::report_in));
                Ok(Done::Nothing)
            }),
            Command::Reports { view, reply } => self.call(async move {
                let reports = control.call_reports(accessor, v0_1::view_out(view)).await?;
                let _ = reply.send(reports.into_iter().map(v0_1::report_in).collect());
                Ok(Done::Nothing)
            }),
            Command::Options { reply } => self.call(async move {
                let _ = reply.send(control.call_options(accessor).await?);
                Ok(Done::Nothing)
            }),
            Command::ServiceHosts { reply } => self.call(async move {
                let _ = reply.send(control.call_service_hosts(accessor).await?);
                Ok(Done::Nothing)
            }),
            Command::Hook(hook) => self.hook(hook),
        }
    }

    fn finish(&mut self, done: Done) {
        match done {
            Done::Nothing => {}
            Done::Test(test, result) => {
                self.open
                    .answer(test, result.map(v0_1::report_in).map_err(test_error_in));
            }
        }
    }

    fn test(&mut self, test: u64, tag: String) {
        let control = self.exports.outwatch_monitor_control();
        let accessor = self.accessor;
        self.call(async move {
            let result = control.call_test(accessor, tag).await?;
            Ok(Done::Test(test, Box::new(result)))
        });
    }

    fn subscribe(&mut self, filter: control::Filter, sender: bounded::Sender<Update>) {
        let control = self.exports.outwatch_monitor_control();
        let accessor = self.accessor;
        self.call(async move {
            let updates: StreamReader<_> = control.call_subscribe(accessor, filter).await?;
            accessor.with(|access| updates.pipe(access, Feed { sender }))?;
            Ok(Done::Nothing)
        });
    }

    fn hook(&mut self, hook: Hook) {
        match hook {
            Hook::Pause => self.open.paused = true,
            Hook::Resume => self.open.paused = false,
            _ => {}
        }
        let hooks = self.exports.outwatch_monitor_hooks();
        let accessor = self.accessor;
        self.call(async move {
            match hook {
                Hook::Activity => hooks.call_activity(accessor).await?,
                Hook::NetworkChanged => hooks.call_network_changed(accessor).await?,
                Hook::ConnectionFailed { tag, group, fault } => {
                    hooks
                        .call_connection_failed(accessor, tag, group, cause_out(fault))
                        .await?;
                }
                Hook::SelectionChanged(group) => {
                    hooks.call_selection_changed(accessor, group).await?;
                }
                Hook::OutboundReady(tag) => hooks.call_outbound_ready(accessor, tag).await?,
                Hook::OutboundsChanged => hooks.call_outbounds_changed(accessor).await?,
                Hook::Pause => hooks.call_pause(accessor).await?,
                Hook::Resume => hooks.call_resume(accessor).await?,
            }
            Ok(Done::Nothing)
        });
    }
}

impl<'a> Life<'a> {
    fn call(&mut self, call: impl Future<Output = wasmtime::Result<Done>> + Send + 'a) {
        self.calls.push(Box::pin(call));
    }
}

fn cause_out(fault: Fault) -> hooks::Cause {
    match fault {
        Fault::Outbound => hooks::Cause::Member,
        Fault::Destination => hooks::Cause::Destination,
        Fault::Client => hooks::Cause::Client,
    }
}

fn test_error_in(error: control::TestError) -> TestError {
    match error {
        control::TestError::UnknownTag => TestError::UnknownTag,
        control::TestError::Untestable => TestError::Untestable,
        control::TestError::NotReady(text) => TestError::NotReady(text),
        control::TestError::Stopped => TestError::Stopped,
    }
}

/// Hands a stream's updates to one subscriber, as fast as it takes them.
struct Feed {
    sender: bounded::Sender<Update>,
}

impl StreamConsumer<HostState> for Feed {
    type Item = control::Update;

    fn poll_consume(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        store: StoreContextMut<'_, HostState>,
        mut source: Source<'_, Self::Item>,
        finish: bool,
    ) -> Poll<wasmtime::Result<StreamResult>> {
        match self.sender.poll_ready(context) {
            Poll::Ready(Ok(())) => {
                let mut update = None;
                source.read(store, &mut update)?;
                let taken = update.map(|update| self.sender.start_send(v0_1::update_in(update)));
                let gone = matches!(taken, Some(Err(_)));
                Poll::Ready(Ok(if gone {
                    StreamResult::Dropped
                } else {
                    StreamResult::Completed
                }))
            }
            Poll::Ready(Err(_)) => Poll::Ready(Ok(StreamResult::Dropped)),
            Poll::Pending if finish => Poll::Ready(Ok(StreamResult::Cancelled)),
            Poll::Pending => Poll::Pending,
        }
    }
}
