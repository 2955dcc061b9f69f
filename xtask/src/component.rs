//! Builds the components by themselves, and shows that the build is reproducible.
//! It must not know how a component is compiled.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use outwatch_component_build::{Build, SOURCES, Toolchain};

use crate::run::{root, say, target_dir};
use crate::setup;

pub(crate) fn component(verify: bool) -> Result<()> {
    let toolchain = setup::for_building()?;
    let build = Build {
        root: root(),
        target_dir: target_dir().join("component"),
    };
    let components = both(&build, &toolchain)?;
    for path in &components {
        let size = fs::metadata(path)?.len();
        say(&format!("{} ({size} bytes)", path.display()));
    }
    if verify {
        same_elsewhere(&toolchain, &components)
    } else {
        Ok(())
    }
}

/// The component that runs by itself, and the one that is stepped.
fn both(build: &Build, toolchain: &Toolchain) -> Result<[PathBuf; 2]> {
    Ok([build.run(toolchain)?, build.step(toolchain)?])
}

/// Builds a copy of the sources in another folder; the bytes must be the same.
fn same_elsewhere(toolchain: &Toolchain, components: &[PathBuf; 2]) -> Result<()> {
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
    for (path, again) in components.iter().zip(both(&build, toolchain)?) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if fs::read(path)? != fs::read(again)? {
            bail!("{name} differs when it is built in another folder");
        }
        say(&format!(
            "{name} is the same when it is built in another folder"
        ));
    }
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
