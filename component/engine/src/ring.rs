//! The last measurements of one outbound and the figures over them.
//! It must not know why anything was measured.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::report::{ErrorKind, Stats};

const CAPACITY: usize = 32;

/// Marks an entry as a failure; the low bits then hold the kind.
const FAILED: u32 = 1 << 31;

/// Second of the run, and delay or failure.
type Entries = Vec<(u32, u32)>;

/// At most 32 measurements, eight bytes each, since there is one ring per outbound.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Entries", into = "Entries")]
pub(crate) struct Ring {
    entries: Entries,
    /// Where the oldest is once the ring is full.
    oldest: usize,
}

impl Ring {
    pub(crate) fn push(&mut self, second: u32, outcome: Result<u32, ErrorKind>) {
        let packed = match outcome {
            Ok(delay_ms) => delay_ms.min(FAILED - 1),
            Err(kind) => FAILED | kind as u32,
        };
        if self.entries.len() < CAPACITY {
            self.entries.push((second, packed));
        } else {
            self.entries[self.oldest] = (second, packed);
            self.oldest = (self.oldest + 1) % CAPACITY;
        }
    }

    /// Seconds of the run and what was measured, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Result<u32, ErrorKind>)> {
        let (newer, older) = self.entries.split_at(self.oldest.min(self.entries.len()));
        older.iter().chain(newer).map(|&(second, packed)| {
            let outcome = if packed & FAILED == 0 {
                Ok(packed)
            } else {
                Err(kind(packed & !FAILED))
            };
            (second, outcome)
        })
    }

    pub(crate) fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        let (mut sum, mut steps, mut answered, mut last) = (0u64, 0u64, 0u64, None);
        for (_, outcome) in self.iter() {
            stats.count += 1;
            let Ok(delay) = outcome else {
                stats.failed += 1;
                continue;
            };
            answered += 1;
            sum += u64::from(delay);
            steps += last.map_or(0, |last: u32| u64::from(last.abs_diff(delay)));
            last = Some(delay);
        }
        stats.mean_ms = mean(sum, answered);
        stats.jitter_ms = mean(steps, answered.saturating_sub(1));
        stats
    }
}

/// The last ones, given oldest first.
impl From<Entries> for Ring {
    fn from(mut entries: Entries) -> Self {
        entries.drain(..entries.len().saturating_sub(CAPACITY));
        Self { entries, oldest: 0 }
    }
}

/// Oldest first.
impl From<Ring> for Entries {
    fn from(ring: Ring) -> Self {
        let mut entries = ring.entries;
        let oldest = ring.oldest.min(entries.len());
        entries.rotate_left(oldest);
        entries
    }
}

fn mean(sum: u64, count: u64) -> Option<u32> {
    sum.checked_div(count)
        .and_then(|mean| u32::try_from(mean).ok())
}

fn kind(code: u32) -> ErrorKind {
    ErrorKind::ALL
        .into_iter()
        .find(|&kind| kind as u32 == code)
        .unwrap_or(ErrorKind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r7_the_ring_keeps_the_last_32_in_order() {
        let mut ring = Ring::default();
        for second in 0..40 {
            ring.push(second, Ok(second + 1));
        }
        let kept: Vec<u32> = ring.iter().map(|(second, _)| second).collect();
        assert_eq!(kept, (8..40).collect::<Vec<_>>());
    }

    #[test]
    fn r7_figures_leave_failures_out_of_mean_and_jitter() {
        let mut ring = Ring::default();
        ring.push(0, Ok(100));
        ring.push(1, Err(ErrorKind::TlsCert));
        ring.push(2, Ok(140));
        let expected = Stats {
            count: 3,
            failed: 1,
            mean_ms: Some(120),
            jitter_ms: Some(40),
        };
        assert_eq!(ring.stats(), expected);
        assert_eq!(
            ring.iter().nth(1).map(|(_, outcome)| outcome),
            Some(Err(ErrorKind::TlsCert))
        );
    }

    #[test]
    fn r7_an_empty_ring_has_no_mean() {
        assert_eq!(Ring::default().stats(), Stats::default());
    }
}
