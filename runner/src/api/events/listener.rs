//! One who listens: first everything, or what was missed since last time, then each change.
//! It must not know how that is sent.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::watch;

use super::board::Update;
use crate::api::groups::Group;
use crate::api::source::Source;
use crate::api::v1::Outbound;
use crate::proxy_core::Kind;
use crate::report::View;

/// One who listens. However slowly it reads, it holds no more than this, misses states in
/// between, and never the last.
pub(in crate::api) struct Listener {
    source: Arc<Source>,
    version: watch::Receiver<Option<u64>>,
    /// What it has been told last; none if it knows nothing.
    knows: Option<u64>,
}

/// What a listener is told at once.
pub(in crate::api) struct Told {
    /// By which it is found again how far on the listener is.
    pub(in crate::api) id: String,
    pub(in crate::api) what: What,
}

pub(in crate::api) enum What {
    Snapshot(Snapshot),
    Update(Update),
}

/// Everything, as it stands.
#[derive(Serialize)]
pub(in crate::api) struct Snapshot {
    outbounds: Vec<Outbound>,
    groups: Vec<Group>,
}

impl Listener {
    /// One who begins to listen, or who goes on after `last`, the id that it was told last.
    pub(in crate::api) fn new(source: Arc<Source>, last: Option<&str>) -> Self {
        let events = &source.events;
        events.wanted.notify_one();
        let start = events.board().start();
        let knows = last.and_then(|id| {
            let (of, version) = id.split_once('-')?;
            (of == format!("{start:016x}")).then(|| version.parse().ok())?
        });
        Self {
            version: events.version.subscribe(),
            knows,
            source,
        }
    }

    /// Waits for what is to be told next; none when nothing will be any more.
    pub(in crate::api) async fn next(&mut self) -> Option<Told> {
        let ending = self.source.ending.clone();
        tokio::select! {
            biased;
            () = ending.cancelled() => None,
            told = self.tell() => told,
        }
    }

    async fn tell(&mut self) -> Option<Told> {
        let news = |now: &Option<u64>| now.is_some_and(|now| self.knows != Some(now));
        self.version.wait_for(news).await.ok()?;
        let events = &self.source.events;
        let update = self.knows.and_then(|knows| events.board().since(knows));
        if let Some(update) = update {
            return Some(self.told(update.version, What::Update(update)));
        }
        // What changes while it is made is told after it.
        let version = events.board().version();
        let reports = self.source.monitor.reports(View::Display).await;
        let (groups, reports) = reports
            .into_iter()
            .partition(|report| report.kind == Kind::Group);
        let snapshot = Snapshot {
            groups: self.source.groups_of(groups),
            outbounds: Outbound::with_measurements(&self.source.monitor, reports).await,
        };
        Some(self.told(version, What::Snapshot(snapshot)))
    }

    fn told(&mut self, version: u64, what: What) -> Told {
        self.knows = Some(version);
        let start = self.source.events.board().start();
        Told {
            id: format!("{start:016x}-{version}"),
            what,
        }
    }
}
