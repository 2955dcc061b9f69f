//! Writes changes behind the back of those who make them, so that nobody waits for
//! a disk. It must not know where they are written to.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::{io, mem};

use super::CacheError;
use super::pairs::Pairs;

/// A key and its new value; none if it is gone.
pub(super) type Change = (String, Option<Vec<u8>>);

/// Where changes end up.
pub(super) trait Target: Send + 'static {
    /// Writes all of the changes or none, and waits until they are safe. Called
    /// again with the same changes and newer ones after a failure.
    fn write(&mut self, changes: &[Change]) -> Result<(), String>;
}

/// Pairs in memory, and a thread that writes what changes in them.
///
/// What is written at once is the state of one moment, so that each change is
/// written whole and none before an older one. Changes made while the thread is
/// busy are written together.
#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// There is something to write, or no more to come.
    wanted: Condvar,
    /// An attempt to write is over.
    settled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    pairs: Pairs,
    /// Keys whose value has not been written yet.
    unwritten: BTreeSet<String>,
    /// The thread is to write them, or is doing so.
    pending: Pending,
    closing: bool,
    /// Why the last attempt failed.
    failure: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pending {
    #[default]
    Nothing,
    Wanted,
    /// The thread is at work; what is wanted meanwhile comes after it.
    Running {
        again: bool,
    },
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(pairs: Pairs, target: impl Target) -> io::Result<Self> {
        let state = Mutex::new(State {
            pairs,
            ..State::default()
        });
        let shared = Arc::new(Shared {
            state,
            ..Shared::default()
        });
        let thread = thread::Builder::new()
            .name("outwatch-cache".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.write_until_closed(target)
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Looks at the pairs, those not yet written included.
    pub(super) fn read<T>(&self, look: impl FnOnce(&Pairs) -> T) -> T {
        look(&self.shared.state().pairs)
    }

    /// Changes the pairs and has the change written soon.
    pub(super) fn update(
        &self,
        delete: &[String],
        set: &[(String, Vec<u8>)],
    ) -> Result<(), CacheError> {
        let mut state = self.shared.state();
        let changed = state.pairs.update(delete, set)?;
        if !changed.is_empty() {
            // They are in order: that makes a set, and two of them one, without a search.
            state.unwritten.append(&mut changed.into_iter().collect());
            self.shared.want(&mut state);
        }
        Ok(())
    }

    /// Waits until all that has changed is written or cannot be.
    pub(super) fn flush(&self) -> Result<(), CacheError> {
        let mut state = self.shared.state();
        if !state.unwritten.is_empty() {
            self.shared.want(&mut state);
        }
        let settled = |state: &mut State| state.pending != Pending::Nothing;
        let state = self.shared.settled.wait_while(state, settled);
        match &state.unwrap_or_else(PoisonError::into_inner).failure {
            Some(why) => Err(CacheError::Unavailable(why.clone())),
            None => Ok(()),
        }
    }
}

/// Waits until all that has changed is written or cannot be.
impl Drop for Writer {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.closing = true;
        if !state.unwritten.is_empty() {
            self.shared.want(&mut state);
        }
        drop(state);
        self.shared.wanted.notify_one();
        if let Some(thread) = self.thread.take() {
            // It catches the panics of its target and has none of its own.
            let _ended = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // No change is left half made by a panic: it is checked before it is made.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn want(&self, state: &mut State) {
        state.pending = match state.pending {
            Pending::Nothing | Pending::Wanted => Pending::Wanted,
            Pending::Running { .. } => Pending::Running { again: true },
        };
        self.wanted.notify_one();
    }

    /// The thread.
    fn write_until_closed(&self, mut target: impl Target) {
        while let Some(changes) = self.next_changes() {
            let write = AssertUnwindSafe(|| target.write(&changes));
            let result = catch_unwind(write)
                .unwrap_or_else(|_| Err("writing it ended in a panic".to_owned()));
            self.settle(changes, result);
        }
    }

    /// Waits for something to write, and takes all there is; none when closing.
    fn next_changes(&self) -> Option<Vec<Change>> {
        let idle = |state: &mut State| state.pending == Pending::Nothing && !state.closing;
        let state = self.wanted.wait_while(self.state(), idle);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.pending == Pending::Nothing {
            return None;
        }
        state.pending = Pending::Running { again: false };
        let keys = mem::take(&mut state.unwritten);
        let change = |key: String| {
            let value = state.pairs.get(&key).map(<[u8]>::to_vec);
            (key, value)
        };
        Some(keys.into_iter().map(change).collect())
    }

    fn settle(&self, changes: Vec<Change>, result: Result<(), String>) {
        let mut state = self.state();
        if let Err(why) = &result {
            // Once per outage: it is tried again with every change.
            if state.failure.is_none() {
                tracing::warn!("changes of the cache are not saved for now: {why}");
            }
            state
                .unwritten
                .extend(changes.into_iter().map(|(key, _)| key));
        }
        state.failure = result.err();
        let again = state.pending == Pending::Running { again: true };
        state.pending = if again {
            Pending::Wanted
        } else {
            Pending::Nothing
        };
        drop(state);
        self.settled.notify_all();
    }
}

#[cfg(test)]
mod tests;
