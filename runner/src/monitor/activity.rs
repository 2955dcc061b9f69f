//! Tells which connections are news to the engine: at most one in a second, however
//! many open (N-2). It must not know who opens them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The engine hears of activity at most once in this time (N-2).
const EVERY: Duration = Duration::from_secs(1);

/// When there was activity. Asked for every connection, by any thread.
pub(super) struct Activity {
    began: Instant,
    /// When the engine last heard of it: milliseconds after `began`, plus one; zero
    /// for never.
    last: AtomicU64,
}

impl Activity {
    pub(super) fn new(began: Instant) -> Self {
        Self {
            began,
            last: AtomicU64::new(0),
        }
    }

    /// Whether the engine is to hear of a connection that opens now. Of several at
    /// once it hears of one.
    pub(super) fn is_news(&self, now: Instant) -> bool {
        let now = now.saturating_duration_since(self.began).as_millis();
        let now = u64::try_from(now).unwrap_or(u64::MAX).saturating_add(1);
        let every = u64::try_from(EVERY.as_millis()).unwrap_or(u64::MAX);
        let last = self.last.load(Ordering::Relaxed);
        if last != 0 && now.saturating_sub(last) < every {
            return false;
        }
        let swapped = self
            .last
            .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed);
        swapped.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n2_of_ten_thousand_connections_in_three_seconds_the_engine_hears_of_three() {
        let began = Instant::now();
        let activity = Activity::new(began);
        let opens = (0..10_000).map(|nth| began + EVERY * 3 * nth / 10_000);
        let heard: Vec<Duration> = opens
            .filter(|&now| activity.is_news(now))
            .map(|now| now - began)
            .collect();
        assert_eq!(heard.len(), 3, "{heard:?}");
        assert_eq!(heard[0], Duration::ZERO, "the first is told at once");
    }
}
