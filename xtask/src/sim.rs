//! Runs the engine's simulation for many seeds, or replays one with its trace. It must
//! not know what a seed stands for.

use anyhow::Result;

use crate::run::cargo;

/// Which seeds.
pub(crate) enum Seeds {
    /// So many, from the first on.
    Many { from: u64, count: u64 },
    /// One, with all that happens.
    One(u64),
}

pub(crate) fn sim(seeds: &Seeds) -> Result<()> {
    let test = "no_seed_breaks_an_invariant";
    let program = cargo(["test", "--quiet", "--profile", "sim"])
        .args(["--package", "outwatch-engine", "--test", "simulation"])
        .args(["--", "--exact", test, "--nocapture"]);
    // What leads to a failure stands in the trace, not on the stack.
    let program = program.env("RUST_BACKTRACE", "0");
    match seeds {
        Seeds::One(seed) => program.env("SIM_SEED", seed.to_string()),
        Seeds::Many { from, count } => program
            .env("SIM_FROM", from.to_string())
            .env("SIM_SEEDS", count.to_string()),
    }
    .run()
}
