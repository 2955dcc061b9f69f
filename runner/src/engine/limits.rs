//! What a guest may use: memory, time within one entry, and log lines. It must not
//! know what the guest is for.

mod watchdog;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use tokio::time::Instant;
use wasmtime::{ResourceLimiter, Store, StoreLimits, StoreLimitsBuilder};

use crate::host::HostState;

pub(crate) use watchdog::Entry;

/// What one call may bring from the guest into the host, in bytes: the reports of
/// 100 000 outbounds fit.
const HOSTCALL: usize = 256 << 20;

/// The time that [`Limits::log_lines`] is for.
const FLOOD_WINDOW: Duration = Duration::from_secs(10);

/// What a component may use of its host. One that wants more memory or computes longer
/// fails, and is replaced like one that traps; what it wants more of the rest has to wait
/// or is dropped, and the log says so once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Its memory, in bytes. The default of 512 MiB is several times what 100 000
    /// outbounds need.
    pub memory: usize,
    /// How long it may compute before it returns to its host, in time of the processor:
    /// a machine that is busy with other things takes none of it away. Others run
    /// meanwhile. A step over 100 000 outbounds takes a tenth of the default, 10 s, on a
    /// slow phone.
    pub computing: Duration,
    /// Lines that it may log in 10 s; 100 000 by default. More are dropped.
    pub log_lines: u32,
    /// Fetches that may run at once; 1024 by default. More wait, each within its own
    /// deadline.
    pub fetches: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 512 << 20,
            computing: Duration::from_secs(10),
            log_lines: 100_000,
            fetches: 1024,
        }
    }
}

/// Bounds what a guest may hold, and counts its memory.
pub(crate) struct Holdings {
    limits: StoreLimits,
    memory: Memory,
}

/// The memory of the guest there is now, in bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<AtomicUsize>);

impl Memory {
    pub(crate) fn bytes(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Holdings {
    /// Of a new guest, whose memory `memory` is to tell.
    pub(crate) fn new(limits: &Limits, memory: Memory) -> Self {
        let limits = StoreLimitsBuilder::new()
            .memory_size(limits.memory)
            .memories(4)
            .tables(16)
            .instances(16)
            // The error then says what was asked for, where the guest could only abort.
            .trap_on_grow_failure(true)
            .build();
        Self { limits, memory }
    }
}

impl ResourceLimiter for Holdings {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let may = self.limits.memory_growing(current, desired, maximum)?;
        if may {
            self.memory.0.fetch_add(desired - current, SeqCst);
        }
        Ok(may)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.limits.memory_grow_failed(error)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.limits.table_growing(current, desired, maximum)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.limits.table_grow_failed(error)
    }

    fn instances(&self) -> usize {
        self.limits.instances()
    }

    fn tables(&self) -> usize {
        self.limits.tables()
    }

    fn memories(&self) -> usize {
        self.limits.memories()
    }
}

impl Drop for Holdings {
    fn drop(&mut self) {
        self.memory.0.store(0, SeqCst);
    }
}

/// Puts a store under the limits. Gives what its owner must enter for each poll.
pub(crate) fn apply(store: &mut Store<HostState>, limits: &Limits) -> Arc<Entry> {
    store.limiter(|state| &mut state.holdings);
    store.set_hostcall_fuel(HOSTCALL);
    Entry::watch(store, limits.computing)
}

/// Counts the log lines of a guest.
pub(crate) struct Flood {
    limit: u32,
    window: Option<Instant>,
    lines: u32,
}

/// Whether a line may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Admitted,
    /// The first line over the limit: say so instead.
    LimitReached,
    Dropped,
}

impl Flood {
    /// That begins with more than `limit` lines in a window.
    pub(crate) fn over(limit: u32) -> Self {
        Self {
            limit,
            window: None,
            lines: 0,
        }
    }

    /// Counts one line.
    pub(crate) fn admit(&mut self) -> Admission {
        let now = Instant::now();
        if self
            .window
            .is_none_or(|start| now.duration_since(start) >= FLOOD_WINDOW)
        {
            self.window = Some(now);
            self.lines = 0;
        }
        self.lines = self.lines.saturating_add(1);
        match self.lines.cmp(&self.limit.saturating_add(1)) {
            std::cmp::Ordering::Less => Admission::Admitted,
            std::cmp::Ordering::Equal => Admission::LimitReached,
            std::cmp::Ordering::Greater => Admission::Dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_lines_is_cut_once_and_admitted_again_in_the_next_window() {
        let mut flood = Flood::over(1000);
        let admissions: Vec<_> = (0..1003).map(|_| flood.admit()).collect();
        let cut = 1000;
        assert!(
            admissions[..cut]
                .iter()
                .all(|&admission| admission == Admission::Admitted)
        );
        assert_eq!(
            admissions[cut..],
            [
                Admission::LimitReached,
                Admission::Dropped,
                Admission::Dropped
            ]
        );
        tokio::time::advance(FLOOD_WINDOW).await;
        assert_eq!(flood.admit(), Admission::Admitted);
    }
}
