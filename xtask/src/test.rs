//! Runs every test of the project. It must not decide which tests there are.

use anyhow::Result;

use crate::run::{cargo, say};
use crate::setup;

/// Everything, or what the arguments choose.
pub(crate) fn test(args: &[String]) -> Result<()> {
    setup::for_testing()?;
    let nextest = cargo(["nextest", "--version"]).succeeds();
    if nextest {
        cargo(["nextest", "run", "--workspace"]).args(args).run()?;
    } else {
        say("test: cargo-nextest is not installed; running the same tests by `cargo test`");
        // Tests run the examples as the programs that they are.
        cargo(["build", "--workspace", "--examples"]).run()?;
        cargo([
            "test",
            "--workspace",
            "--lib",
            "--bins",
            "--tests",
            "--examples",
        ])
        .args(args)
        .run()?;
    }
    if args.is_empty() {
        cargo(["test", "--workspace", "--doc"]).run()
    } else {
        Ok(())
    }
}
