//! Ends a guest that computes without end, and lets others run while one computes long.
//! It must not know what the guest is for.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use cpu_time::ThreadTime;
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::host::HostState;

/// How often the watchdog looks while a guest works.
const TICK: Duration = Duration::from_millis(50);

/// Ticks without work after which the watchdog sleeps until there is some, so that an
/// idle device is not woken by it.
const QUIET_TICKS: u32 = 20;

/// One store's stays in the guest.
pub(crate) struct Entry {
    watchdog: &'static Watchdog,
    /// How long a turn may compute.
    computing: Duration,
    turn: Mutex<Turn>,
}

/// From entering the guest until it has returned by itself, over however many polls.
#[derive(Default)]
struct Turn {
    /// What was computed in it before `since`.
    spent: Duration,
    /// The time of the thread that computes now when that was last counted.
    since: Option<Duration>,
    /// The guest was interrupted, and goes on with the next poll.
    interrupted: bool,
}

impl Entry {
    /// Watches a store's guest, which may compute for so long at a stretch.
    pub(super) fn watch(store: &mut Store<HostState>, computing: Duration) -> Arc<Self> {
        let entry = Arc::new(Self {
            watchdog: Watchdog::of(store.engine()),
            computing,
            turn: Mutex::default(),
        });
        let watched = entry.clone();
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| watched.check());
        entry
    }

    /// Does `f`, which may enter the guest, under the watchdog's eyes.
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        {
            let mut turn = self.turn();
            *turn = if turn.interrupted {
                Turn {
                    spent: turn.spent,
                    since: Some(ThreadTime::now().as_duration()),
                    interrupted: false,
                }
            } else {
                Turn::default()
            };
        }
        self.watchdog.inside.fetch_add(1, SeqCst);
        self.watchdog.wake();
        let result = f();
        self.watchdog.inside.fetch_sub(1, SeqCst);
        result
    }

    /// Called by the guest's own code after each tick: a guest that computes on lets
    /// others run in between.
    fn check(&self) -> wasmtime::Result<UpdateDeadline> {
        let now = ThreadTime::now().as_duration();
        let mut turn = self.turn();
        let Some(since) = turn.since.replace(now) else {
            // Most turns are over before there is anything to count.
            return Ok(UpdateDeadline::Continue(1));
        };
        turn.spent += now.saturating_sub(since);
        if turn.spent > self.computing {
            let limit = self.computing.as_secs_f32();
            return Err(wasmtime::Error::msg(format!(
                "the component computed for {limit} s without returning to its host"
            )));
        }
        turn.interrupted = true;
        Ok(UpdateDeadline::Yield(1))
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Advances the engine's epoch while some guest works.
struct Watchdog {
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
