//! Builds the component by itself, and shows that the build is reproducible.
//! It must not know how the component is compiled.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use outwatch_component_build::{Build, SOURCES, Toolchain};

use crate::run::{root, say, target_dir};
use crate::setup;

pub(crate) fn component(verify: bool) -> Result<()> {
    let toolchain = setup::for_building()?;
    let target_dir = target_dir().join("component");
    let path = Build {
        root: root(),
        target_dir,
    }
    .run(&toolchain)?;
    let bytes = fs::read(&path)?;
    say(&format!("{} ({} bytes)", path.display(), bytes.len()));
    if verify {
        same_elsewhere(&toolchain, &bytes)
    } else {
        Ok(())
    }
}

/// Builds a copy of the sources in another folder; the bytes must be the same.
fn same_elsewhere(toolchain: &Toolchain, bytes: &[u8]) -> Result<()> {
    let elsewhere = target_dir().join("reproduce");
    if elsewhere.exists() {
        fs::remove_dir_all(&elsewhere)?;
    }
    let copy = elsewhere.join("copy");
    // The members of the guest inherit from the root's manifest.
    let manifests = [
        "Cargo.toml",
        "Cargo.lock",
        "component/build",
        "runner/Cargo.toml",
    ];
    for source in SOURCES.iter().chain(&manifests) {
        copy_all(&root().join(source), &copy.join(source))
            .with_context(|| format!("failed to copy {source}"))?;
    }
    let build = Build {
        root: copy,
        target_dir: elsewhere.join("target"),
    };
    let again = fs::read(build.run(toolchain)?)?;
    if again != bytes {
        bail!("the component differs when it is built in another folder");
    }
    say("the component is the same when it is built in another folder");
    fs::remove_dir_all(elsewhere).context("failed to remove the copy")
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        fs::copy(from, to)?;
    }
    Ok(())
}
