//! What a guest may use: memory, time within one entry, and log lines. It must not
//! know what the guest is for.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use cpu_time::ThreadTime;
use tokio::time::Instant;
use wasmtime::{Engine, ResourceLimiter, Store, StoreLimits, StoreLimitsBuilder, UpdateDeadline};

use crate::host::HostState;

/// A guest's memory, in bytes: several times what 100 000 outbounds need.
const MEMORY: usize = 512 << 20;

/// What one call may bring from the guest into the host, in bytes: the reports of
/// 100 000 outbounds fit.
const HOSTCALL: usize = 256 << 20;

/// How long a guest may compute before it returns to the host, in time of the processor:
/// a machine that is busy with other things takes none of it away. A step over 100 000
/// outbounds takes a tenth of it on a slow phone.
const ENTRY: Duration = Duration::from_secs(10);

/// How often the watchdog looks while a guest works.
const TICK: Duration = Duration::from_millis(50);

/// Ticks without work after which the watchdog sleeps until there is some, so that an
/// idle device is not woken by it.
const QUIET_TICKS: u32 = 20;

/// Log lines admitted in one [`FLOOD_WINDOW`].
const FLOOD_LINES: u32 = 100_000;
const FLOOD_WINDOW: Duration = Duration::from_secs(10);

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
    pub(crate) fn new(memory: Memory) -> Self {
        let limits = StoreLimitsBuilder::new()
            .memory_size(MEMORY)
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
pub(crate) fn apply(store: &mut Store<HostState>) -> Arc<Entry> {
    let watchdog = Watchdog::of(store.engine());
    let entry = Arc::new(Entry {
        watchdog,
        since: AtomicU64::new(0),
        computing: Mutex::default(),
    });
    let watched = entry.clone();
    store.limiter(|state| &mut state.holdings);
    store.set_hostcall_fuel(HOSTCALL);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| watched.check());
    entry
}

/// One store's stay in the guest.
pub(crate) struct Entry {
    watchdog: &'static Watchdog,
    /// The tick at which the guest was entered.
    since: AtomicU64,
    /// For the entry at that tick: what its thread had computed at the first check.
    computing: Mutex<Option<(u64, Duration)>>,
}

impl Entry {
    /// Does `f`, which may enter the guest, under the watchdog's eyes.
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        self.since.store(self.watchdog.ticks.load(SeqCst), SeqCst);
        self.watchdog.inside.fetch_add(1, SeqCst);
        self.watchdog.wake();
        let result = f();
        self.watchdog.inside.fetch_sub(1, SeqCst);
        result
    }

    /// Called by the guest's own code after each tick.
    fn check(&self) -> wasmtime::Result<UpdateDeadline> {
        let computed = ThreadTime::now().as_duration();
        let since = self.since.load(SeqCst);
        let mut computing = self
            .computing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (_, before) = computing
            .filter(|(entry, _)| *entry == since)
            .unwrap_or((since, computed));
        *computing = Some((since, before));
        if computed.saturating_sub(before) > ENTRY {
            let limit = ENTRY.as_secs();
            return Err(wasmtime::Error::msg(format!(
                "the component computed for {limit} s without returning to its host"
            )));
        }
        Ok(UpdateDeadline::Continue(1))
    }
}

/// Advances the engine's epoch while some guest works.
struct Watchdog {
    ticks: AtomicU64,
    /// How many stores are in their guest now.
    inside: AtomicUsize,
    /// A guest was entered since the last tick.
    entered: AtomicBool,
    parked: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Watchdog {
    /// The process has one engine, and so one watchdog.
    fn of(engine: &Engine) -> &'static Self {
        static WATCHDOG: Watchdog = Watchdog {
            ticks: AtomicU64::new(0),
            inside: AtomicUsize::new(0),
            entered: AtomicBool::new(false),
            parked: AtomicBool::new(false),
            thread: OnceLock::new(),
        };
        WATCHDOG.thread.get_or_init(|| {
            let engine = engine.clone();
            let thread = thread::Builder::new().name("outwatch-watchdog".to_owned());
            match thread.spawn(move || WATCHDOG.watch(&engine)) {
                Ok(handle) => handle.thread().clone(),
                // A host without another thread has no watchdog; it works all the same.
                Err(_) => thread::current(),
            }
        });
        &WATCHDOG
    }

    fn watch(&self, engine: &Engine) {
        let mut quiet = 0;
        loop {
            thread::sleep(TICK);
            self.ticks.fetch_add(1, SeqCst);
            engine.increment_epoch();
            let works = self.entered.swap(false, SeqCst) || self.inside.load(SeqCst) > 0;
            quiet = if works { 0 } else { quiet + 1 };
            if quiet >= QUIET_TICKS {
                self.parked.store(true, SeqCst);
                while self.parked.load(SeqCst) && self.inside.load(SeqCst) == 0 {
                    thread::park();
                }
                self.parked.store(false, SeqCst);
                quiet = 0;
            }
        }
    }

    fn wake(&self) {
        self.entered.store(true, SeqCst);
        if self.parked.swap(false, SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// Counts the log lines of a guest.
#[derive(Default)]
pub(crate) struct Flood {
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
        match self.lines.cmp(&(FLOOD_LINES + 1)) {
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
        let mut flood = Flood::default();
        let admissions: Vec<_> = (0..FLOOD_LINES + 3).map(|_| flood.admit()).collect();
        let cut = FLOOD_LINES as usize;
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
