//! One instance from its first step to its end: each request becomes a call of an
//! export. It must not know what becomes of the monitor after it.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{Notify, mpsc, watch};
use tracing::warn;

use super::trial::{self, Replacement, Trial};
use super::watchers::Watcher;
use super::{Command, Open, stop_wanted};
use crate::engine::track::{Answer, Exports, Guest, Hook};
use crate::monitor::TestError;
use crate::report::{Report, View};

/// How long a component may take to save and end after it was told to stop.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// What an instance that ended in order left to the next; nothing if it was too slow.
pub(super) type Left = Option<Vec<u8>>;

/// An instance that runs, and the calls into it that have not returned.
pub(super) struct Life<'a> {
    exports: &'a dyn Exports,
    guest: &'a Guest,
    calls: FuturesUnordered<Pin<Box<dyn Future<Output = Answer<Done>> + Send + 'a>>>,
    open: &'a mut Open,
    /// Told when another is to take over.
    leave: Arc<Notify>,
}

/// What a returned call leaves to do.
enum Done {
    Nothing,
    Test(u64, Box<Result<Report, TestError>>),
}

impl<'a> Life<'a> {
    pub(super) fn new(exports: &'a dyn Exports, guest: &'a Guest, open: &'a mut Open) -> Self {
        Self {
            exports,
            guest,
            calls: FuturesUnordered::new(),
            open,
            leave: Arc::default(),
        }
    }

    pub(super) async fn lead(
        mut self,
        requests: &mut mpsc::UnboundedReceiver<Command>,
        stopping: &mut watch::Receiver<bool>,
        trial: &mut Option<Trial>,
    ) -> Answer<Left> {
        let (exports, guest) = (self.exports, self.guest);
        if self.open.paused {
            // Before the first step, which would start tests.
            exports.tell(guest, Hook::Pause).await?;
        }
        self.take_over().await?;
        let mut run = pin!(exports.run(guest));
        let (leave, told) = (self.leave.clone(), AtomicBool::new(false));
        let mut stop = pin!(async {
            tokio::select! {
                () = stop_wanted(stopping) => {}
                () = leave.notified() => {}
            }
            told.store(true, SeqCst);
            exports.stop(guest).await?;
            tokio::time::sleep(STOP_WITHIN).await;
            Answer::Ok(())
        });
        loop {
            let stays = self.open.leaving.is_none();
            tokio::select! {
                ended = &mut run => {
                    ended?.map_err(wasmtime::Error::msg)?;
                    break;
                }
                late = &mut stop => {
                    let seconds = STOP_WITHIN.as_secs();
                    warn!("the component was told to stop and did not within {seconds} s; what it had not saved is lost");
                    return late.map(|()| None);
                }
                Some(done) = self.calls.next() => self.finish(done?),
                () = trial::over(trial) => trial::pass(trial),
                Some(command) = requests.recv(), if stays => self.pass(command),
            }
        }
        if !told.load(SeqCst) {
            return Err(wasmtime::Error::msg("the component ended by itself"));
        }
        self.part().await
    }

    /// Asks and subscribes again for everyone who waited on an earlier instance.
    async fn take_over(&mut self) -> Answer<()> {
        let tests: Vec<_> = self
            .open
            .tests
            .iter()
            .map(|(&test, (tag, _))| (test, tag.clone()))
            .collect();
        for (test, tag) in tests {
            self.test(test, tag);
        }
        let watchers = self.open.watchers.all();
        if watchers.is_empty() {
            return Ok(());
        }
        let reports = self.exports.reports(self.guest, View::Display).await?;
        let alive = Arc::new(reports.into_iter().map(|report| report.tag).collect());
        for watcher in watchers {
            self.subscribe(watcher, Arc::clone(&alive));
        }
        Ok(())
    }

    /// The end, after which another takes over: waits for what is still on its way, and
    /// asks for what is left.
    async fn part(mut self) -> Answer<Left> {
        if self.open.leaving.is_none() {
            return Ok(None);
        }
        let patience = tokio::time::sleep(STOP_WITHIN);
        let mut patience = pin!(patience);
        loop {
            tokio::select! {
                done = self.calls.next() => match done {
                    Some(done) => self.finish(done?),
                    None => break,
                },
                () = &mut patience => break,
            }
        }
        let given = self.exports.give(self.guest).await?;
        Ok(Some(given).filter(|given| !given.is_empty()))
    }

    fn pass(&mut self, command: Command) {
        let (exports, guest) = (self.exports, self.guest);
        let revisions = self.open.watchers.revisions().clone();
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
                let watcher = self.open.watchers.add(scope, view, sender);
                self.subscribe(watcher, Arc::default());
            }
            Command::Report { tag, view, reply } => self.call(async move {
                let report = exports.report(guest, tag, view).await?;
                // One who no longer waits needs no answer; so below.
                let _ = reply.send(report.map(|report| revisions.number(report)));
                Ok(Done::Nothing)
            }),
            Command::Reports { view, reply } => self.call(async move {
                let reports = exports.reports(guest, view).await?.into_iter();
                let _ = reply.send(reports.map(|report| revisions.number(report)).collect());
                Ok(Done::Nothing)
            }),
            Command::Measurements { tags, reply } => self.call(async move {
                let _ = reply.send(exports.measurements(guest, tags).await?);
                Ok(Done::Nothing)
            }),
            Command::Options { reply } => self.call(async move {
                let _ = reply.send(exports.options(guest).await?);
                Ok(Done::Nothing)
            }),
            Command::ServiceHosts { reply } => self.call(async move {
                let _ = reply.send(exports.service_hosts(guest).await?);
                Ok(Done::Nothing)
            }),
            Command::Hook(hook) => self.hook(hook),
            Command::Replace(replacement) => self.leave_for(replacement),
        }
    }

    /// Begins the end of this instance, of which those who watch are to notice nothing.
    fn leave_for(&mut self, replacement: Replacement) {
        self.open.leaving = Some(replacement);
        self.open.watchers.mute();
        self.leave.notify_one();
    }

    fn finish(&mut self, done: Done) {
        match done {
            Done::Nothing => {}
            // The one that takes over is asked again.
            Done::Test(_, result)
                if *result == Err(TestError::Stopped) && self.open.leaving.is_some() => {}
            Done::Test(test, result) => {
                let revisions = self.open.watchers.revisions();
                let result = result.map(|report| revisions.number(report));
                self.open.answer(test, result);
            }
        }
    }

    fn test(&mut self, test: u64, tag: String) {
        let (exports, guest) = (self.exports, self.guest);
        self.call(async move {
            let result = exports.test(guest, tag).await?;
            Ok(Done::Test(test, Box::new(result)))
        });
    }

    fn subscribe(&mut self, mut watcher: Watcher, alive: Arc<BTreeSet<String>>) {
        let (exports, guest) = (self.exports, self.guest);
        let reader = Box::new(self.open.watchers.reader(&watcher));
        self.call(async move {
            watcher.tell_gone(&alive).await;
            let Watcher { scope, view, .. } = watcher;
            exports.subscribe(guest, scope, view, reader).await?;
            Ok(Done::Nothing)
        });
    }

    fn hook(&mut self, hook: Hook) {
        match hook {
            Hook::Pause => self.open.paused = true,
            Hook::Resume => self.open.paused = false,
            _ => {}
        }
        let (exports, guest) = (self.exports, self.guest);
        self.call(async move {
            exports.tell(guest, hook).await?;
            Ok(Done::Nothing)
        });
    }

    fn call(&mut self, call: impl Future<Output = Answer<Done>> + Send + 'a) {
        self.calls.push(Box::pin(call));
    }
}
