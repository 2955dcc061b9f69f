//! Putting a component in the place of another, all or nothing: tried beforehand, and on
//! trial for a while after, with a way back. It must not know how an instance runs.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::{error, info, warn};

use super::instance::Instance;
use super::life::Left;
use super::{Driver, GOOD_RUN, Stand};
use crate::engine::Component;
use crate::monitor::{ReplaceError, Replaced, StartError};
use crate::report::Problem;
use crate::store::{Cache, Draft, MemoryCache};

/// A component that has been found to start, and who wants it.
pub(crate) struct Replacement {
    pub(crate) component: Component,
    pub(crate) reply: oneshot::Sender<Result<Replaced, ReplaceError>>,
}

impl Driver {
    /// Puts another component in the place of the one that has just ended.
    pub(super) async fn go_over(
        &mut self,
        replacement: Replacement,
        life: Result<Left, String>,
    ) -> Result<Instance, String> {
        let Replacement { component, reply } = replacement;
        let given = life.unwrap_or_else(|failure| {
            warn!("the component failed as it gave way; what it had not saved is lost: {failure}");
            None
        });
        let draft = match &self.trial {
            Some(trial) => trial.draft().clone(),
            None => Arc::new(Draft::over(self.stand.world.cache.clone())),
        };
        let started = self
            .start(&component, draft.clone(), given.as_deref())
            .await;
        let (instance, warnings, goes_on) = match started {
            Ok(started) => started,
            Err(error) => {
                let before = self.component.borrow().clone();
                error!("{component} does not start, {before} goes on: {error}");
                let _ = reply.send(Err(error.into()));
                return self.restart(given.as_deref()).await;
            }
        };
        self.open.watchers.hear_another(goes_on);
        let before = self.component.send_replace(component.clone());
        info!("{component} takes the place of {before}");
        let (trial, outcome) = match self.trial.take() {
            Some(trial) => trial.begin_again(),
            None => Trial::begin(before.clone(), given, draft),
        };
        self.trial = Some(trial);
        // One who no longer waits needs no answer.
        let _ = reply.send(Ok(Replaced::new(before, warnings, outcome)));
        Ok(instance)
    }

    /// Goes back from a component that failed its trial to the one before.
    pub(super) async fn roll_back(
        &mut self,
        trial: Trial,
        failure: &str,
    ) -> Result<Instance, String> {
        let (back, given) = trial.fail(failure);
        let failed = self.component.send_replace(back.clone());
        error!("{failed} failed in its first minute, {back} is back: {failure}");
        let instance = self.restart(given.as_deref()).await;
        // It counts on from before the other one did.
        self.open.watchers.hear_another(false);
        instance
    }
}

/// A component in its first minute.
pub(crate) struct Trial {
    ends: Instant,
    /// The one before, and what it left.
    pub(super) back: Component,
    pub(super) given: Left,
    /// What it saves, until it can be relied on.
    draft: Arc<Draft>,
    verdict: oneshot::Sender<Result<(), String>>,
}

impl Trial {
    /// Begins after `back`, and gives what will hear of its end.
    pub(super) fn begin(
        back: Component,
        given: Left,
        draft: Arc<Draft>,
    ) -> (Self, oneshot::Receiver<Result<(), String>>) {
        let (verdict, outcome) = oneshot::channel();
        let trial = Self {
            ends: Instant::now() + GOOD_RUN,
            back,
            given,
            draft,
            verdict,
        };
        (trial, outcome)
    }

    /// Begins for another component, with the same way back.
    pub(super) fn begin_again(self) -> (Self, oneshot::Receiver<Result<(), String>>) {
        // One who does not wait for it needs no word; so below.
        let _ = self
            .verdict
            .send(Err("another took its place in its first minute".to_owned()));
        Self::begin(self.back, self.given, self.draft)
    }

    pub(super) fn draft(&self) -> &Arc<Draft> {
        &self.draft
    }

    /// It has failed: what it saved is dropped.
    pub(super) fn fail(self, why: &str) -> (Component, Left) {
        let _ = self.verdict.send(Err(why.to_owned()));
        (self.back, self.given)
    }

    /// It ended in order before the trial did: what it saved stays.
    pub(super) fn keep(self) {
        if let Err(error) = self.draft.pass_on() {
            warn!("what was saved in the first minute of the component is lost: {error}");
        }
        let _ = self.verdict.send(Ok(()));
    }
}

/// Waits for the end of the trial, if there is one.
pub(super) async fn over(trial: &Option<Trial>) {
    match trial {
        Some(trial) => tokio::time::sleep_until(trial.ends).await,
        None => std::future::pending().await,
    }
}

/// Ends the trial: the component has stood it.
pub(super) fn pass(trial: &mut Option<Trial>) {
    if let Some(trial) = trial.take() {
        info!("the new component has stood its first minute");
        trial.keep();
    }
}

/// Starts a component over a copy of what is saved, and lets go of it: whether it would
/// start. Nothing is tested, and nothing changes.
pub(crate) async fn rehearse(
    stand: &Stand,
    component: &Component,
) -> Result<Vec<Problem>, StartError> {
    let copy = MemoryCache::new();
    if let Ok(pairs) = stand.world.cache.get_prefix("") {
        // What is too large to be copied is too large to be saved, too.
        let _ = copy.update(&[], &pairs);
    }
    let mut world = stand.world.clone();
    world.cache = Arc::new(copy);
    // What it takes is not what the monitor has.
    world.memory = crate::engine::limits::Memory::default();
    let (_, warnings) = stand.start(component, world).await?;
    Ok(warnings)
}
