//! The library's one thread for a monitor: its runtime, on which all of it runs and every
//! callback is called. It must not know what runs there.

use std::sync::mpsc;
use std::thread::{self, JoinHandle, ThreadId};

use outwatch::Monitor;
use tokio::runtime::{self, Handle};
use tokio::sync::oneshot;

use crate::border::{Code, Failed, Outcome};

/// A thread on which a monitor runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Thread {
    id: ThreadId,
    runtime: Handle,
    end: Option<oneshot::Sender<()>>,
    join: Option<JoinHandle<()>>,
}

impl Thread {
    /// Starts a monitor on a new thread, and waits until it runs or is refused. `last` is
    /// dropped when nothing else is left.
    pub(crate) fn start<F>(
        begin: impl FnOnce() -> F + Send + 'static,
        last: impl Send + 'static,
    ) -> Outcome<(Self, Monitor)>
    where
        F: Future<Output = Outcome<Monitor>>,
    {
        let system = |error: std::io::Error| Failed::new(Code::System, error.to_string());
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(system)?;
        let handle = runtime.handle().clone();
        let (end, ending) = oneshot::channel();
        let (say, started) = mpsc::channel();
        let join = thread::Builder::new()
            .name("outwatch".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let outcome = begin().await;
                    let monitor = outcome.as_ref().ok().cloned();
                    // One who starts waits for it.
                    let _ = say.send(outcome);
                    if let Some(monitor) = monitor {
                        let _ = ending.await;
                        // Whoever wants to know how it ended has called `outwatch_stop`.
                        let _ = monitor.stop().await;
                    }
                });
                drop(runtime);
                drop(last);
            })
            .map_err(system)?;
        let thread = Self {
            id: join.thread().id(),
            runtime: handle,
            end: Some(end),
            join: Some(join),
        };
        let lost = || Failed::new(Code::Panicked, "a fault in the library as it started");
        let monitor = started.recv().map_err(|_| lost())??;
        Ok((thread, monitor))
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Waits for what is done on the thread.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Outcome<T> {
        if self.is_current() {
            let text = "it waits for the library's thread, and was called on that";
            return Err(Failed::new(Code::WouldDeadlock, text));
        }
        let (say, done) = mpsc::channel();
        self.runtime.spawn(async move {
            // One who asks waits for it.
            let _ = say.send(work.await);
        });
        done.recv().map_err(|_| Failed::stopped())
    }

    fn is_current(&self) -> bool {
        thread::current().id() == self.id
    }
}

impl Drop for Thread {
    /// Has the thread stop the monitor and end, and waits for that; not on the thread
    /// itself, which ends once it gets back to its own.
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(join) = self.join.take()
            && !self.is_current()
        {
            // A panic has been told where it happened.
            let _ = join.join();
        }
    }
}
