//! Runs cargo for the guest with the flags that make the result the same
//! everywhere. It must not choose the compiler.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::Build;
use crate::toolchain::{self, TARGET, Toolchain};

/// Compiles the guest in `folder`, below the root, and gives the path of its core module.
pub(crate) fn module(
    build: &Build,
    toolchain: &Toolchain,
    folder: &str,
    name: &str,
) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_outer_cargo(&mut cargo);
    cargo
        .current_dir(build.root.join(folder))
        .args([
            "build",
            "--release",
            "--locked",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(&build.target_dir)
        .env("RUSTC", toolchain.rustc())
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            flags(build, toolchain).join("\u{1f}"),
        );
    if let Toolchain::Sources { linker, .. } = toolchain {
        // The sources of a stable library compile with its own compiler only if that
        // is told that it may use unstable features.
        cargo
            .env("RUSTC_BOOTSTRAP", "1")
            .arg("-Zbuild-std=std,panic_abort");
        if let Some(linker) = linker {
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
    }
    let status = cargo
        .status()
        .context("failed to run cargo for the component")?;
    if !status.success() {
        bail!("compiling the component failed ({status}); the compiler's messages are above");
    }
    Ok(build.target_dir.join(TARGET).join("release").join(name))
}

/// No path of this machine may stand in the result.
fn flags(build: &Build, toolchain: &Toolchain) -> Vec<String> {
    let remap = |from: PathBuf, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let mut flags = vec![remap(build.root.clone(), "/outwatch")];
    flags.extend(cargo_home.map(|home| remap(home.join("registry/src"), "/registry")));
    flags.extend(toolchain::sources(toolchain.rustc()).map(|dir| remap(dir, "/rust")));
    flags
}

/// A build script runs within another cargo, whose settings are for the host.
fn forget_outer_cargo(cargo: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let inherited = [
            "CARGO",
            "RUSTC",
            "RUSTFLAGS",
            "RUSTDOC",
            "TARGET",
            "HOST",
            "PROFILE",
        ]
        .iter()
        .any(|prefix| text.starts_with(prefix));
        // `CARGO_HOME` and the like decide where crates come from: those stay.
        let kept = [
            "CARGO_HOME",
            "CARGO_NET_",
            "CARGO_HTTP_",
            "CARGO_REGISTR",
            "CARGO_SOURCE_",
        ]
        .iter()
        .any(|prefix| text.starts_with(prefix));
        if inherited && !kept {
            cargo.env_remove(name);
        }
    }
}
