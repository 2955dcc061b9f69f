//! Holds the library to working with everything left out that can be: each feature alone,
//! and a monitor in a program without a compiler. It must not know what any feature is for.

use anyhow::Result;

use crate::run::{cargo, target_dir};
use crate::setup;

/// Each must build without the others, and none too.
const FEATURES: [&str; 9] = [
    "",
    "fetch",
    "file-cache",
    "network",
    "native-core",
    "inbound",
    "sing-box",
    "api",
    "compiler",
];

/// Nothing here is worth optimising.
const PROFILE: [&str; 2] = ["--profile", "minimal"];

pub(crate) fn minimal() -> Result<()> {
    setup::for_building()?;
    for feature in FEATURES {
        builds("outwatch", feature)?;
    }
    builds("outwatch-c", "")?;
    let code = target_dir().join("minimal.code");
    // As tests build the program, so that it is the one which they have built.
    cargo(["test", "--workspace", "--test", "cli", "--no-run"]).run()?;
    let program = target_dir().join("debug/outwatch");
    crate::run::program(program)
        .args(["component", "--precompile"])
        .args([&code])
        .run()?;
    cargo(["test", "--package", "outwatch-minimal"])
        .args(["--features", "alone"])
        .args(PROFILE)
        .env("OUTWATCH_PRECOMPILED", code)
        .run()
}

/// A library with this feature alone builds, without a warning.
fn builds(package: &str, feature: &str) -> Result<()> {
    cargo(["clippy", "--package", package, "--lib"])
        .args(PROFILE)
        .args(["--no-default-features", "--features", feature])
        .args(["--", "--deny", "warnings"])
        .run()
}
