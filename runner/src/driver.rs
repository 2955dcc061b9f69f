//! The one loop that owns the store: it runs the component, passes it every request,
//! and replaces it when it fails. It must not know who asks or what a core is.

mod instance;

use std::collections::BTreeMap;
use std::time::Duration;

use futures::channel::mpsc as bounded;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::engine::Component;
use crate::engine::limits::Memory;
use crate::host::World;
use crate::monitor::{Builder, Fault, StartError, TestError};
use crate::report::{Problem, Report, Scope, Update, View};

use instance::Instance;

/// The first wait before a failed component is replaced; it doubles up to
/// [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// A component that ran this long has recovered.
const GOOD_RUN: Duration = Duration::from_secs(60);
/// Failures in a row after which it is given up.
const FAILURES: u32 = 5;

/// What someone wants of the component.
pub(crate) enum Command {
    Test {
        tag: String,
        reply: Reply,
    },
    Subscribe {
        scope: Scope,
        view: View,
        sender: bounded::Sender<Update>,
    },
    Report {
        tag: String,
        view: View,
        reply: oneshot::Sender<Option<Report>>,
    },
    Reports {
        view: View,
        reply: oneshot::Sender<Vec<Report>>,
    },
    Options {
        reply: oneshot::Sender<String>,
    },
    ServiceHosts {
        reply: oneshot::Sender<Vec<String>>,
    },
    Hook(Hook),
}

type Reply = oneshot::Sender<Result<Report, TestError>>;

/// What someone tells the component.
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

/// How a monitor ended.
#[derive(Clone, Debug)]
pub(crate) enum Ended {
    Stopped,
    GaveUp(String),
}

/// What every instance of one monitor is started from.
pub(crate) struct Plan {
    component: Component,
    world: World,
    options: String,
}

impl Plan {
    pub(crate) fn new(builder: Builder, memory: Memory) -> Result<Self, StartError> {
        let (component, world, options) = builder.into_parts(memory)?;
        Ok(Self {
            component,
            world,
            options,
        })
    }

    /// A started instance, and what was doubtful about the options.
    pub(crate) async fn instance(&self) -> Result<(Instance, Vec<Problem>), StartError> {
        let mut instance = Instance::new(&self.component, self.world.clone()).await?;
        let warnings = instance.start(&self.options).await?;
        Ok((instance, warnings))
    }

    /// The options in force and the warnings; nothing runs.
    pub(crate) async fn check(&self) -> Result<(String, Vec<Problem>), StartError> {
        let (mut instance, warnings) = self.instance().await?;
        Ok((instance.options().await?, warnings))
    }
}

/// What outlives an instance: what is asked for and who watches.
pub(crate) struct Driver {
    plan: Plan,
    requests: mpsc::UnboundedReceiver<Command>,
    stopping: watch::Receiver<bool>,
    ending: watch::Sender<Option<Ended>>,
    open: Open,
}

/// What a new instance must take over from a failed one.
#[derive(Default)]
pub(crate) struct Open {
    tests: BTreeMap<u64, (String, Reply)>,
    last_test: u64,
    subscriptions: Vec<(Scope, View, bounded::Sender<Update>)>,
    paused: bool,
}

impl Driver {
    pub(crate) fn new(
        plan: Plan,
        requests: mpsc::UnboundedReceiver<Command>,
        stopping: watch::Receiver<bool>,
        ending: watch::Sender<Option<Ended>>,
        paused: bool,
    ) -> Self {
        let open = Open {
            paused,
            ..Open::default()
        };
        Self {
            plan,
            requests,
            stopping,
            ending,
            open,
        }
    }

    /// Runs the component until it is stopped or given up.
    pub(crate) async fn run(mut self, first: Instance) {
        let mut next = Ok(first);
        let mut failures = 0;
        let ended = loop {
            let began = Instant::now();
            let failure = match next {
                Ok(instance) => {
                    let life =
                        instance.live(&mut self.requests, &mut self.stopping, &mut self.open);
                    match life.await {
                        Ok(()) => break Ended::Stopped,
                        Err(error) => format!("{error:?}"),
                    }
                }
                Err(error) => error,
            };
            failures = if began.elapsed() >= GOOD_RUN {
                1
            } else {
                failures + 1
            };
            if failures >= FAILURES {
                error!("the component failed {failures} times in a row; giving up: {failure}");
                break Ended::GaveUp(failure);
            }
            let wait = wait_after(failures);
            error!(
                "the component failed; starting a new one in {} s: {failure}",
                wait.as_secs()
            );
            if self.stopped_within(wait).await {
                break Ended::Stopped;
            }
            next = self
                .plan
                .instance()
                .await
                .map(|(instance, _)| instance)
                .map_err(|error| error.to_string());
            info!("a new component has been started");
        };
        // Streams and questions end before the end is told, and the cache is let go, so
        // that whoever waited for the end can open its file again.
        self.requests.close();
        self.open = Open::default();
        let cache = self.plan.world.cache.clone();
        drop(self.plan);
        // It may wait for the disk.
        let flush = tokio::task::spawn_blocking(move || cache.flush());
        if let Ok(Err(error)) = flush.await {
            warn!("the last results may not be saved: {error}");
        }
        self.ending.send_replace(Some(ended));
    }

    /// Waits, but no longer than until it is told to stop.
    async fn stopped_within(&mut self, wait: Duration) -> bool {
        tokio::time::timeout(wait, stop_wanted(&mut self.stopping))
            .await
            .is_ok()
    }
}

/// Waits until the monitor shall stop: told to, or the last handle is gone.
async fn stop_wanted(stopping: &mut watch::Receiver<bool>) {
    // An error means that every handle was dropped.
    let _ = stopping.wait_for(|stop| *stop).await;
}

fn wait_after(failures: u32) -> Duration {
    FIRST_WAIT
        .saturating_mul(1 << (failures - 1).min(6))
        .min(LONGEST_WAIT)
}

impl Open {
    /// Remembers a test until it is answered.
    fn ask(&mut self, tag: String, reply: Reply) -> u64 {
        self.last_test += 1;
        self.tests.insert(self.last_test, (tag, reply));
        self.last_test
    }

    fn answer(&mut self, test: u64, result: Result<Report, TestError>) {
        if let Some((_, reply)) = self.tests.remove(&test) {
            // One who no longer waits needs no answer.
            let _ = reply.send(result);
        }
    }

    fn subscribe(&mut self, scope: Scope, view: View, sender: bounded::Sender<Update>) {
        self.subscriptions
            .retain(|(_, _, sender)| !sender.is_closed());
        self.subscriptions.push((scope, view, sender));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_before_a_new_component_doubles_up_to_a_minute() {
        let waits: Vec<_> = (1..9)
            .map(|failures| wait_after(failures).as_secs())
            .collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
