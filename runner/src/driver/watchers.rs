//! Those who watch a monitor, whichever instance tells them: what each has seen, so that
//! a new instance repeats nothing of it and leaves nothing out. It must not know why an
//! instance is replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use foldhash::quality::FixedState;
use futures::SinkExt as _;
use futures::channel::mpsc as bounded;

use crate::engine::track::{Gone, Reader};
use crate::report::{Report, Scope, Update, View};

/// All of them.
#[derive(Default)]
pub(super) struct Watchers {
    watchers: Vec<Watcher>,
    revisions: Arc<Revisions>,
    /// Set when those who watch are to hear no more of the instance that there is.
    muted: Arc<AtomicBool>,
}

/// One subscription.
#[derive(Clone)]
pub(super) struct Watcher {
    pub(super) scope: Scope,
    pub(super) view: View,
    sender: bounded::Sender<Update>,
    seen: Arc<Mutex<Seen>>,
}

/// By tag what a watcher last saw of it, as a hash.
type Seen = BTreeMap<Box<str>, u64>;

impl Watchers {
    pub(super) fn add(
        &mut self,
        scope: Scope,
        view: View,
        sender: bounded::Sender<Update>,
    ) -> Watcher {
        self.watchers.retain(|watcher| !watcher.sender.is_closed());
        let watcher = Watcher {
            scope,
            view,
            sender,
            seen: Arc::default(),
        };
        self.watchers.push(watcher.clone());
        watcher
    }

    pub(super) fn all(&self) -> Vec<Watcher> {
        self.watchers.clone()
    }

    pub(super) fn revisions(&self) -> &Arc<Revisions> {
        &self.revisions
    }

    /// What the instance that there is says from now on is its own affair.
    pub(super) fn mute(&self) {
        self.muted.store(true, SeqCst);
    }

    /// Another instance is about to speak. Its revisions go on where the last one's ended,
    /// or it counts anew.
    pub(super) fn hear_another(&mut self, goes_on: bool) {
        self.muted = Arc::default();
        if !goes_on {
            self.revisions.begin_above();
        }
    }

    /// For one subscription of the instance that there is.
    pub(super) fn reader(&self, watcher: &Watcher) -> Feed {
        Feed {
            sender: watcher.sender.clone(),
            seen: watcher.seen.clone(),
            is_first: true,
            revisions: self.revisions.clone(),
            muted: self.muted.clone(),
        }
    }
}

impl Watcher {
    /// Tells of those tags that went while no instance was there to tell.
    pub(super) async fn tell_gone(&mut self, alive: &BTreeSet<String>) {
        let removed: Vec<String> = {
            let seen = lock(&self.seen);
            let gone = seen.keys().filter(|tag| !alive.contains(&***tag));
            gone.map(|tag| tag.to_string()).collect()
        };
        if removed.is_empty() {
            return;
        }
        let update = Update {
            reports: Vec::new(),
            removed,
            urgent: false,
        };
        // One who left needs no word. Until this one took it, the next instance has to tell.
        if self.sender.feed(update).await.is_ok() {
            lock(&self.seen).retain(|tag, _| alive.contains(&**tag));
        }
    }
}

/// Numbers the reports of one instance after the other, so that a revision never goes
/// back.
#[derive(Default)]
pub(super) struct Revisions {
    base: AtomicU64,
    highest: AtomicU64,
}

impl Revisions {
    /// Gives a report of the instance that there is its revision.
    pub(super) fn number(&self, mut report: Report) -> Report {
        report.revision = report.revision.saturating_add(self.base.load(SeqCst));
        self.highest.fetch_max(report.revision, SeqCst);
        report
    }

    fn begin_above(&self) {
        self.base.store(self.highest.load(SeqCst), SeqCst);
    }
}

/// Takes the updates of one instance for one watcher.
pub(super) struct Feed {
    sender: bounded::Sender<Update>,
    seen: Arc<Mutex<Seen>>,
    /// The first update holds the state of all, of which the watcher may know some.
    is_first: bool,
    revisions: Arc<Revisions>,
    muted: Arc<AtomicBool>,
}

impl Reader for Feed {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        if self.muted.load(SeqCst) {
            return Poll::Ready(Err(Gone));
        }
        self.sender.poll_ready(context).map_err(|_| Gone)
    }

    fn take(&mut self, mut update: Update) -> Result<(), Gone> {
        let reports = std::mem::take(&mut update.reports).into_iter();
        update.reports = reports
            .map(|report| self.revisions.number(report))
            .collect();
        {
            let mut seen = lock(&self.seen);
            let is_first = std::mem::take(&mut self.is_first);
            update.reports.retain(|report| {
                let look = look(report);
                let Some(known) = seen.get_mut(&*report.tag) else {
                    seen.insert(report.tag.as_str().into(), look);
                    return true;
                };
                let is_news = std::mem::replace(known, look) != look;
                is_news || !is_first
            });
            for tag in &update.removed {
                seen.remove(&**tag);
            }
        }
        if update.reports.is_empty() && update.removed.is_empty() {
            return Ok(());
        }
        self.sender.start_send(update).map_err(|_| Gone)
    }
}

/// What a report says, as a hash; its age alone is no news, nor is its number.
fn look(report: &Report) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    let Report {
        tag,
        kind,
        type_name,
        state,
        testing,
        delay_ms,
        delay_source,
        warm,
        url,
        tested_at,
        last_ok_at,
        age_ms: _,
        from_cache,
        miss,
        error,
        ip,
        ip_from_cache,
        ip_pending,
        ipv6,
        ipv6_source,
        status_text,
        reason,
        attempts,
        via,
        stats,
        revision: _,
        extra,
    } = report;
    (tag, kind, type_name, state, testing, delay_ms).hash(&mut hasher);
    (delay_source, warm, url, tested_at, last_ok_at).hash(&mut hasher);
    (from_cache, miss, error, ip, ip_from_cache, ip_pending).hash(&mut hasher);
    (ipv6, ipv6_source, status_text, reason, attempts, via, stats).hash(&mut hasher);
    extra.hash(&mut hasher);
    hasher.finish()
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
