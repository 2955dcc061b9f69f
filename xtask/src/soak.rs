//! Runs the soak of the whole for longer than its test does. It must not know what is
//! done in a round.

use anyhow::Result;

use crate::run::cargo;
use crate::setup;

pub(crate) fn soak(rounds: u64) -> Result<()> {
    setup::for_testing()?;
    let test = "soak::a_soak_of_the_whole_leaves_descriptors_threads_and_memory_where_they_were";
    cargo(["test", "--quiet", "--workspace", "--test", "real"])
        .args(["--", "--exact", test, "--nocapture"])
        .env("SOAK_ROUNDS", rounds.to_string())
        .run()
}
