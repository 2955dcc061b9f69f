//! Everything that must hold before a change lands. It must not do anything that a
//! developer cannot run alone.

use anyhow::Result;

use crate::minimal::minimal;
use crate::rules::{Then, rules};
use crate::run::cargo;
use crate::{component, setup};

pub(crate) fn ci() -> Result<()> {
    setup::for_testing()?;
    cargo(["fmt", "--all", "--check"]).run()?;
    for apart in [
        "component/Cargo.toml",
        "component/step/Cargo.toml",
        "component/words/Cargo.toml",
        "fuzz/Cargo.toml",
        "tests/guests/Cargo.toml",
    ] {
        cargo(["fmt", "--check", "--manifest-path", apart]).run()?;
    }
    rules(Then::Fail)?;
    cargo([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ])
    .run()?;
    cargo(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "--deny warnings")
        .run()?;
    component::component(true)?;
    // As the README says it.
    cargo(["xtask", "test"])
        .env("NEXTEST_PROFILE", "ci")
        .run()?;
    minimal()
}
