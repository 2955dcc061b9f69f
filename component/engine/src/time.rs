//! Time as the engine sees it: always an argument, never read.
//! It must not know any other room.

use core::ops::Add;
use core::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment of a monotonic clock with an unspecified origin, in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Instant(pub u64);

impl Instant {
    /// The time passed since `earlier`; zero if that is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// Saturates at the end of time.
    fn add(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

/// The two clocks at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Measures; never goes back.
    pub mono: Instant,
    /// Stamps results: milliseconds since 1970-01-01T00:00:00Z; may jump.
    pub wall_ms: u64,
}
