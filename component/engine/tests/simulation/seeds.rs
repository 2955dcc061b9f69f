//! Plays many seeds, on every core, and says how to replay one that fails. It must
//! not know what a seed stands for.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::world::World;

/// How often a long run says how far it is.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// Plays so many seeds; `SIM_SEED` (one, with its trace), `SIM_SEEDS` and `SIM_FROM`
/// say otherwise.
pub(crate) fn play(seeds: u64) {
    if let Some(seed) = number("SIM_SEED") {
        World::new(seed).aloud().play();
        return;
    }
    let from = number("SIM_FROM").unwrap_or(0);
    let run = Run {
        next: AtomicU64::new(from),
        from,
        end: from + number("SIM_SEEDS").unwrap_or(seeds),
        failed: AtomicBool::new(false),
        began: Instant::now(),
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for nth in 0..threads {
            let run = &run;
            scope.spawn(move || run.work(nth == 0));
        }
    });
    assert!(!run.failed.load(Ordering::Relaxed), "a seed failed");
    say(&format!(
        "sim: all {} seeds from {from} on are clean, {} s",
        run.end - from,
        run.began.elapsed().as_secs()
    ));
}

struct Run {
    next: AtomicU64,
    from: u64,
    end: u64,
    failed: AtomicBool,
    began: Instant,
}

impl Run {
    fn work(&self, speaks: bool) {
        let mut said = Instant::now();
        while !self.failed.load(Ordering::Relaxed) {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.end {
                return;
            }
            if catch_unwind(AssertUnwindSafe(|| World::new(seed).play())).is_err() {
                say(&format!(
                    "seed {seed} failed; replay: cargo xtask sim --seed {seed}"
                ));
                self.failed.store(true, Ordering::Relaxed);
            }
            if speaks && said.elapsed() > SAY_EVERY {
                said = Instant::now();
                let (done, all) = (seed - self.from, self.end - self.from);
                let seconds = self.began.elapsed().as_secs();
                say(&format!(
                    "sim: {done} of {all} seeds are clean, {seconds} s"
                ));
            }
        }
    }
}

#[allow(clippy::print_stderr, reason = "a long run says how far it is")]
fn say(line: &str) {
    eprintln!("{line}");
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
