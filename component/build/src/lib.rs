//! Turns `component/` into the `.wasm` files that hosts load: finds a Rust that can
//! compile for WebAssembly, compiles, and wraps the module as a component. It must
//! not install anything and must not know who hosts the result.
//!
//! The build is reproducible: the same sources, compiler and lock file give the
//! same bytes in any folder.

mod compile;
mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use wasm_metadata::AddMetadataField;

pub use toolchain::{MISSING, Toolchain};

/// Where a component is built from and to.
#[derive(Clone, Debug)]
pub struct Build {
    /// The project's root, which holds `component/` and `wit/`.
    pub root: PathBuf,
    /// Cargo's folder for the guest: kept between builds, apart from the host's.
    pub target_dir: PathBuf,
}

/// The component's name, and that of the tool which the component says made it, with
/// the engine's version.
pub const NAME: &str = "outwatch-monitor";

/// The same of the component that is stepped.
pub const STEP_NAME: &str = "outwatch-step";

/// What of the project a component is made from, relative to its root. A change in
/// any of them needs a new build.
pub const SOURCES: [&str; 8] = [
    "component/Cargo.toml",
    "component/Cargo.lock",
    "component/src",
    "component/engine",
    "component/options",
    "component/step",
    "component/words",
    "wit",
];

impl Build {
    /// Compiles and encodes the component of the world `monitor` with `toolchain`; gives
    /// its path in [`target_dir`](Self::target_dir).
    ///
    /// # Errors
    /// When the compiler fails (the error holds its messages), or when the module does
    /// not fit `wit/`.
    pub fn run(&self, toolchain: &Toolchain) -> Result<PathBuf> {
        self.component(toolchain, "component", NAME)
    }

    /// The same for the world `monitor-step`.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn step(&self, toolchain: &Toolchain) -> Result<PathBuf> {
        self.component(toolchain, "component/step", STEP_NAME)
    }

    /// Compiles and encodes another guest, in `folder` below the root, whose crate makes
    /// the module `name`; gives its bytes.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn guest(&self, toolchain: &Toolchain, folder: &str, name: &str) -> Result<Vec<u8>> {
        encode(&compile::module(self, toolchain, folder, name)?)
    }

    fn component(&self, toolchain: &Toolchain, folder: &str, name: &str) -> Result<PathBuf> {
        let file = name.replace('-', "_");
        let module = compile::module(self, toolchain, folder, &format!("{file}.wasm"))?;
        let component = named(&encode(&module)?, name)?;
        let path = self.target_dir.join(format!("{file}.component.wasm"));
        write_if_changed(&path, &component)?;
        Ok(path)
    }
}

fn encode(module: &Path) -> Result<Vec<u8>> {
    let module =
        fs::read(module).with_context(|| format!("failed to read {}", module.display()))?;
    wit_component::ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|encoder| encoder.encode())
        .context("failed to wrap the module as a component")
}

fn named(component: &[u8], name: &str) -> Result<Vec<u8>> {
    let mut metadata = wasm_metadata::AddMetadata::default();
    metadata.name = AddMetadataField::Set(name.to_owned());
    metadata.processed_by = vec![(name.to_owned(), env!("CARGO_PKG_VERSION").to_owned())];
    metadata
        .to_wasm(component)
        .context("failed to add name and version to the component")
}

/// The engine's version, as [`Build`] wrote it into the component; none of another one's.
pub fn version_of(component: &[u8]) -> Option<String> {
    let producers = wasm_metadata::Producers::from_wasm(component).ok()??;
    producers.get("processed-by")?.get(NAME).cloned()
}

/// A component's SHA-256, in hexadecimal.
pub fn sha256(component: &[u8]) -> String {
    format!("{:x}", Sha256::digest(component))
}

/// Leaves the file's time alone when nothing changed, so that nobody rebuilds.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).with_context(|| format!("failed to write {}", path.display()))
}
