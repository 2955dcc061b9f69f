//! The one loop that owns the store: it runs the component, passes it every request,
//! and replaces it when it fails or another is wanted. It must not know who asks or what
//! a core is.

mod instance;
mod life;
mod trial;
mod watchers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc as bounded;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::engine::Component;
use crate::engine::track::Hook;
use crate::host::World;
use crate::monitor::{StartError, TestError};
use crate::proxy_core::ProxyCore;
use crate::report::{Measurement, Problem, Report, Scope, Update, View};
use crate::store::Cache;

use instance::Instance;
use trial::Trial;
pub(crate) use trial::{Replacement, rehearse};
use watchers::Watchers;

/// The first wait before a failed component is replaced; it doubles up to
/// [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// A component that ran this long has recovered; a new one has stood its trial.
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
    Measurements {
        tags: Vec<String>,
        reply: oneshot::Sender<Vec<Vec<Measurement>>>,
    },
    Options {
        reply: oneshot::Sender<String>,
    },
    ServiceHosts {
        reply: oneshot::Sender<Vec<String>>,
    },
    Hook(Hook),
    Replace(Replacement),
}

type Reply = oneshot::Sender<Result<Report, TestError>>;

/// How a monitor ended.
#[derive(Clone, Debug)]
pub(crate) enum Ended {
    Stopped,
    GaveUp(String),
}

/// What every instance of one monitor is started from, besides its component.
pub(crate) struct Stand {
    world: World,
    options: String,
}

impl Stand {
    pub(crate) fn new(world: World, options: String) -> Self {
        Self { world, options }
    }

    pub(crate) fn core(&self) -> &Arc<dyn ProxyCore> {
        &self.world.core
    }

    /// A started instance, and what was doubtful about the options.
    pub(crate) async fn first(
        &self,
        component: &Component,
    ) -> Result<(Instance, Vec<Problem>), StartError> {
        self.start(component, self.world.clone()).await
    }

    /// The options in force and the warnings; nothing runs.
    pub(crate) async fn check(
        &self,
        component: &Component,
    ) -> Result<(String, Vec<Problem>), StartError> {
        let (mut instance, warnings) = self.first(component).await?;
        Ok((instance.options().await?, warnings))
    }

    async fn start(
        &self,
        component: &Component,
        world: World,
    ) -> Result<(Instance, Vec<Problem>), StartError> {
        let mut instance = Instance::new(component, world).await?;
        let warnings = instance.start(&self.options).await?;
        Ok((instance, warnings))
    }
}

/// What outlives an instance: what it is made from, what is asked for and who watches.
pub(crate) struct Driver {
    stand: Arc<Stand>,
    component: watch::Sender<Component>,
    /// While the component is new.
    trial: Option<Trial>,
    requests: mpsc::UnboundedReceiver<Command>,
    stopping: watch::Receiver<bool>,
    ending: watch::Sender<Option<Ended>>,
    open: Open,
}

/// What a new instance must take over from the one before.
#[derive(Default)]
pub(crate) struct Open {
    tests: BTreeMap<u64, (String, Reply)>,
    last_test: u64,
    watchers: Watchers,
    paused: bool,
    /// What the instance is to give way to.
    leaving: Option<Replacement>,
}

impl Driver {
    pub(crate) fn new(
        stand: Arc<Stand>,
        component: watch::Sender<Component>,
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
            stand,
            component,
            trial: None,
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
            let life = match next {
                Ok(instance) => {
                    let Self {
                        requests,
                        stopping,
                        open,
                        trial,
                        ..
                    } = &mut self;
                    let life = instance.live(requests, stopping, open, trial).await;
                    life.map_err(|error| format!("{error:?}"))
                }
                Err(error) => Err(error),
            };
            if let Some(replacement) = self.open.leaving.take() {
                failures = 0;
                next = self.go_over(replacement, life).await;
                continue;
            }
            let failure = match life {
                Ok(_) => break Ended::Stopped,
                Err(failure) => failure,
            };
            if let Some(trial) = self.trial.take() {
                failures = 0;
                next = self.roll_back(trial, &failure).await;
                continue;
            }
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
            next = self.restart(None).await;
            info!("a new component has been started");
        };
        self.end(ended).await;
    }

    /// Starts the component again, with what an instance of it left.
    async fn restart(&mut self, given: Option<&[u8]>) -> Result<Instance, String> {
        let cache: Arc<dyn Cache> = match &self.trial {
            Some(trial) => trial.draft().clone(),
            None => self.stand.world.cache.clone(),
        };
        let component = self.component.borrow().clone();
        let started = self.start(&component, cache, given).await;
        let (instance, _, goes_on) = started.map_err(|error| error.to_string())?;
        self.open.watchers.hear_another(goes_on);
        Ok(instance)
    }

    /// A started instance, the warnings, and whether it goes on where another stopped.
    async fn start(
        &self,
        component: &Component,
        cache: Arc<dyn Cache>,
        given: Option<&[u8]>,
    ) -> Result<(Instance, Vec<Problem>, bool), StartError> {
        let mut world = self.stand.world.clone();
        world.cache = cache;
        let (mut instance, warnings) = self.stand.start(component, world).await?;
        let Some(given) = given else {
            return Ok((instance, warnings, false));
        };
        let goes_on = match instance.take(given.to_vec()).await? {
            Ok(()) => true,
            Err(why) => {
                warn!("{component} goes on with the saved results alone: {why}");
                false
            }
        };
        Ok((instance, warnings, goes_on))
    }

    async fn end(self, ended: Ended) {
        let Self {
            stand,
            trial,
            mut requests,
            ending,
            open,
            ..
        } = self;
        // Streams and questions end before the end is told, and the cache is let go, so
        // that whoever waited for the end can open its file again.
        requests.close();
        drop(open);
        if let Some(trial) = trial {
            trial.keep();
        }
        let cache = stand.world.cache.clone();
        drop(stand);
        // It may wait for the disk.
        let flush = tokio::task::spawn_blocking(move || cache.flush());
        if let Ok(Err(error)) = flush.await {
            warn!("the last results may not be saved: {error}");
        }
        ending.send_replace(Some(ended));
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
