//! The marks of an asked-for test (S): when to try again, when to show a miss, when
//! it is over. It must not know what an attempt is made of.

use alloc::vec::Vec;
use core::time::Duration;

use crate::Instant;
use crate::record::Known;

/// Where an asked-for test stands between its marks.
#[derive(Clone, Debug)]
pub(crate) struct Stages {
    started: Instant,
    /// Marks still to come; the last is the deadline of all attempts.
    ahead: Vec<Duration>,
    deadline: Duration,
    miss: Miss,
}

/// What people see when no answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Miss {
    /// After the first failed attempt or the first mark (S-3).
    Soon,
    /// After the first effective mark: its good result holds until then (S-4).
    AtMark,
    /// It is shown, or the outbound is shown as failed anyway.
    Settled,
}

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// Wait for the next mark.
    Wait { miss: bool },
    /// No mark is left to try at (S-6).
    Over,
}

/// What a mark asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtMark {
    /// Try again if no attempt is running (S-1, S-2).
    Try { miss: bool },
    /// The deadline (S-6).
    Over,
}

impl Stages {
    /// Starts at the first attempt, with ascending marks.
    pub(crate) fn new(marks: &[Duration], known: Known, started: Instant) -> Self {
        let first = match known {
            // S-4; S-8: a single mark is the deadline for all.
            Known::Worked => 1.min(marks.len().saturating_sub(1)),
            Known::Nothing | Known::Failed => 0,
        };
        Self {
            started,
            ahead: marks.iter().skip(first).rev().copied().collect(),
            deadline: marks.last().copied().unwrap_or_default(),
            miss: match known {
                Known::Nothing => Miss::Soon,
                Known::Worked => Miss::AtMark,
                Known::Failed => Miss::Settled,
            },
        }
    }

    /// When the next mark is.
    pub(crate) fn next_mark(&self) -> Instant {
        self.started + self.ahead.last().copied().unwrap_or(self.deadline)
    }

    /// From the first attempt to the last mark.
    pub(crate) fn whole(&self) -> Duration {
        self.deadline
    }

    /// How long an attempt that starts now may take.
    pub(crate) fn time_left(&self, now: Instant) -> Duration {
        self.deadline.saturating_sub(now.since(self.started))
    }

    /// An attempt failed between two marks.
    pub(crate) fn failed(&mut self) -> AfterFailure {
        // The last mark is no time to try.
        if self.ahead.len() <= 1 {
            return AfterFailure::Over;
        }
        AfterFailure::Wait {
            miss: self.show(&[Miss::Soon]),
        }
    }

    /// The next mark is reached.
    pub(crate) fn reach_mark(&mut self) -> AtMark {
        self.ahead.pop();
        if self.ahead.is_empty() {
            return AtMark::Over;
        }
        AtMark::Try {
            miss: self.show(&[Miss::Soon, Miss::AtMark]),
        }
    }

    fn show(&mut self, when: &[Miss]) -> bool {
        let show = when.contains(&self.miss);
        if show {
            self.miss = Miss::Settled;
        }
        show
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> [Duration; 3] {
        [1, 3, 10].map(Duration::from_secs)
    }

    fn second(second: u64) -> Instant {
        Instant(second * 1_000_000_000)
    }

    #[test]
    fn s2_a_failed_attempt_is_tried_at_every_mark_but_the_last() {
        let mut stages = Stages::new(&marks(), Known::Nothing, second(0));
        assert_eq!(stages.failed(), AfterFailure::Wait { miss: true });
        assert_eq!(stages.next_mark(), second(1));
        assert_eq!(stages.reach_mark(), AtMark::Try { miss: false });
        assert_eq!(stages.failed(), AfterFailure::Wait { miss: false });
        assert_eq!(stages.next_mark(), second(3));
        assert_eq!(stages.reach_mark(), AtMark::Try { miss: false });
        assert_eq!(stages.failed(), AfterFailure::Over);
    }

    #[test]
    fn s4_marks_start_at_the_second_for_an_outbound_that_worked() {
        let mut stages = Stages::new(&marks(), Known::Worked, second(0));
        assert_eq!(stages.failed(), AfterFailure::Wait { miss: false });
        assert_eq!(stages.next_mark(), second(3));
        assert_eq!(stages.reach_mark(), AtMark::Try { miss: true });
        assert_eq!(stages.time_left(second(3)), Duration::from_secs(7));
        assert_eq!(stages.reach_mark(), AtMark::Over);
    }

    #[test]
    fn s8_one_mark_is_the_deadline_for_all() {
        for known in [Known::Nothing, Known::Worked, Known::Failed] {
            let one = [Duration::from_secs(2)];
            assert_eq!(
                Stages::new(&one, known, second(0)).failed(),
                AfterFailure::Over
            );
            assert_eq!(
                Stages::new(&one, known, second(0)).reach_mark(),
                AtMark::Over
            );
        }
    }

    #[test]
    fn s3_an_outbound_that_failed_in_this_run_shows_no_miss() {
        let mut stages = Stages::new(&marks(), Known::Failed, second(0));
        assert_eq!(stages.next_mark(), second(1));
        assert_eq!(stages.failed(), AfterFailure::Wait { miss: false });
        assert_eq!(stages.reach_mark(), AtMark::Try { miss: false });
    }
}
