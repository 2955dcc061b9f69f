//! The clocks: monotonic time is tokio's, so that it follows a paused clock in
//! tests, and wall time is whatever the monitor was given. It must not know what a
//! guest waits for.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use wasmtime::component::{Accessor, HasData};
use wasmtime_wasi::HostWallClock;
use wasmtime_wasi::p3::bindings::clocks::{monotonic_clock, types};

use super::HostState;

/// How long a guest waits without anybody looking for a sleep of the device (C-6). One
/// that waits for no time at all, as while idle, costs no look.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The time of day runs ahead by more when the device slept, or was set.
const JUMP: Duration = Duration::from_secs(1);

/// Tells the time of day.
#[derive(Clone)]
pub(crate) struct WallClock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl WallClock {
    pub(crate) fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }
}

impl Default for WallClock {
    fn default() -> Self {
        Self::new(SystemTime::now)
    }
}

impl fmt::Debug for WallClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WallClock")
    }
}

impl HostWallClock for WallClock {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        (self.0)().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// Counts from a monitor's start, whichever instance reads it.
#[derive(Clone, Debug)]
pub(crate) struct MonotonicClock {
    start: Instant,
    wall: WallClock,
}

impl MonotonicClock {
    pub(crate) fn new(wall: WallClock) -> Self {
        let start = Instant::now();
        Self { start, wall }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Waits until then; not as long if the device slept meanwhile, so that the guest
    /// sees at once how late it is: this clock stands still in a sleep.
    async fn wait_until(&self, nanos: u64) {
        let mut lead = self.lead();
        loop {
            let left = Duration::from_nanos(nanos.saturating_sub(self.nanos()));
            if left.is_zero() || self.lead() > lead + JUMP {
                return;
            }
            lead = lead.min(self.lead());
            tokio::time::sleep(left.min(LOOK_EVERY)).await;
        }
    }

    /// How far the time of day is ahead of this clock.
    fn lead(&self) -> Duration {
        let elapsed = self.start.elapsed();
        self.wall.now().saturating_sub(elapsed)
    }
}

/// Where the guest's monotonic clock comes from.
pub(super) struct Monotonic;

impl HasData for Monotonic {
    type Data<'a> = &'a mut HostState;
}

impl monotonic_clock::Host for HostState {
    fn now(&mut self) -> wasmtime::Result<monotonic_clock::Mark> {
        Ok(self.world.clock.nanos())
    }

    fn get_resolution(&mut self) -> wasmtime::Result<types::Duration> {
        Ok(1)
    }
}

impl<T> monotonic_clock::HostWithStore<T> for Monotonic {
    async fn wait_until(
        store: &Accessor<T, Self>,
        when: monotonic_clock::Mark,
    ) -> wasmtime::Result<()> {
        let clock = store.with(|mut access| access.get().world.clock.clone());
        clock.wait_until(when).await;
        Ok(())
    }

    async fn wait_for(_: &Accessor<T, Self>, duration: types::Duration) -> wasmtime::Result<()> {
        tokio::time::sleep(Duration::from_nanos(duration)).await;
        Ok(())
    }
}
