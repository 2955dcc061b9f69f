//! Changes as they happen, for many at once who each read at their own pace: one watch of
//! the monitor fills a board, and every listener holds no more than how far on it is. It
//! must not know how changes are sent.

mod board;
mod listener;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use super::source::Source;
use crate::report::{Scope, View};

pub(super) use listener::{Listener, Told, What};

use board::Board;

/// The board, and who is told that it changed.
pub(super) struct Events {
    board: Mutex<Board>,
    /// How far on the board is; `None` before it is filled.
    version: watch::Sender<Option<u64>>,
    /// Somebody listens.
    wanted: Notify,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            board: Mutex::new(Board::new()),
            version: watch::Sender::new(None),
            wanted: Notify::new(),
        }
    }
}

impl Events {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self) {
        let version = self.board().version();
        self.version.send_if_modified(|known| {
            let news = *known != Some(version);
            *known = Some(version);
            news
        });
    }
}

/// Keeps the board, from the moment that somebody listens until the monitor ends.
pub(super) async fn keep(source: Arc<Source>) {
    let events = &source.events;
    events.wanted.notified().await;
    let mut updates = source.monitor.subscribe(Scope::All, View::Display);
    let mut followed = source.follow_groups();
    let mut changes = source.groups().map(|groups| groups.changes());
    let reports = source.monitor.reports(View::Display).await;
    events.board().take(&source, reports, Vec::new());
    events.announce();
    loop {
        tokio::select! {
            update = updates.next() => match update {
                Some(update) => events.board().take(&source, update.reports, update.removed),
                None => break,
            },
            replaced = followed.changed() => {
                if replaced.is_err() {
                    break;
                }
                changes = followed.borrow_and_update().as_ref().map(|groups| groups.changes());
                events.board().look_at_groups(&source);
            }
            () = changed(&mut changes) => events.board().look_at_groups(&source),
        }
        events.announce();
    }
    // Nothing will change any more: who listens is to ask again, of whoever runs then.
    source.ending.cancel();
}

/// The next change of groups; never, if none are there or these have gone.
async fn changed(changes: &mut Option<watch::Receiver<()>>) {
    if let Some(of) = changes
        && of.changed().await.is_ok()
    {
        return;
    }
    *changes = None;
    std::future::pending::<()>().await;
}
