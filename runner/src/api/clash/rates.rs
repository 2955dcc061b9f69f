//! What flows each second, and the memory of this process, for one who watches. It must not
//! know connections.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use futures::stream::{self, Stream, StreamExt};
use serde::Serialize;
use tokio::time::{MissedTickBehavior, interval};

use super::feed::{Upgrade, feed};
use crate::api::source::Source;
use crate::inbound::Carried;

const SECOND: Duration = Duration::from_secs(1);

/// Bytes of the last second, and since the start.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Traffic {
    up: u64,
    down: u64,
    up_total: u64,
    down_total: u64,
}

#[derive(Serialize)]
struct Memory {
    /// Bytes.
    inuse: u64,
    /// Nobody sets one.
    oslimit: u64,
}

pub(super) async fn traffic(State(source): State<Arc<Source>>, upgrade: Upgrade) -> Response {
    let mut before = source.connections.carried();
    let connections = source.connections.clone();
    // A second must have passed before anything can be said of it.
    let seconds = every(SECOND).skip(1);
    let rates = seconds.map(move |()| {
        let now = connections.carried();
        Traffic::between(std::mem::replace(&mut before, now), now)
    });
    feed(&source, upgrade, rates)
}

pub(super) async fn memory(State(source): State<Arc<Source>>, upgrade: Upgrade) -> Response {
    let memory = every(SECOND).map(|()| Memory {
        inuse: in_use(),
        oslimit: 0,
    });
    feed(&source, upgrade, memory)
}

/// Now, and then after each `period`; never twice at once.
pub(super) fn every(period: Duration) -> impl Stream<Item = ()> + Send {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    stream::unfold(ticks, async |mut ticks| {
        ticks.tick().await;
        Some(((), ticks))
    })
}

/// The memory that this process holds, in bytes; 0 where the system does not say.
pub(super) fn in_use() -> u64 {
    let held = memory_stats::memory_stats();
    held.map_or(0, |held| held.physical_mem as u64)
}

impl Traffic {
    fn between(before: Carried, now: Carried) -> Self {
        Self {
            up: now.up.saturating_sub(before.up),
            down: now.down.saturating_sub(before.down),
            up_total: now.up,
            down_total: now.down,
        }
    }
}
