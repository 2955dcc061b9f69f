//! Which Rust on this machine can compile for `wasm32-unknown-unknown`.
//! It must not install one: that is `cargo xtask setup`'s work.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target that the component is compiled for.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// What to say when there is none.
pub const MISSING: &str = "no Rust here can compile for wasm32-unknown-unknown: run \
    `rustup target add wasm32-unknown-unknown`, or on Debian \
    `apt-get install rustc-web rust-web-src`, or let `cargo xtask setup` do it";

/// A way to compile for WebAssembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// This compiler has the target's standard library.
    Installed {
        /// The compiler.
        rustc: PathBuf,
    },
    /// This compiler has the standard library's sources, and the library is
    /// compiled along (`-Zbuild-std`).
    Sources {
        /// The compiler.
        rustc: PathBuf,
        /// A linker for WebAssembly, where the compiler brings none.
        linker: Option<PathBuf>,
    },
}

impl Toolchain {
    /// Looks for the best way: the target's library first, then the sources, each
    /// with the compiler in use and then with the system's.
    pub fn find() -> Option<Self> {
        let in_use = PathBuf::from(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let compilers = [in_use, PathBuf::from("/usr/bin/rustc")];
        let installed = compilers.iter().find(|rustc| has_target(rustc));
        if let Some(rustc) = installed {
            return Some(Self::Installed {
                rustc: rustc.clone(),
            });
        }
        let lld = compilers.iter().find_map(|rustc| rust_lld(rustc));
        compilers
            .iter()
            .filter(|rustc| has_sources(rustc))
            .find_map(|rustc| {
                // A compiler without a linker of its own can borrow another's.
                let linker = rust_lld(rustc).or_else(|| lld.clone())?;
                Some(Self::Sources {
                    rustc: rustc.clone(),
                    linker: Some(linker),
                })
            })
    }

    pub(crate) fn rustc(&self) -> &Path {
        match self {
            Self::Installed { rustc } | Self::Sources { rustc, .. } => rustc,
        }
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rustc = self.rustc().display();
        match self {
            Self::Installed { .. } => write!(f, "{rustc} has the target {TARGET}"),
            Self::Sources { .. } => {
                write!(
                    f,
                    "{rustc} has the library's sources; compiling them for {TARGET}"
                )
            }
        }
    }
}

/// The path that `rustc --print` gives; none if it cannot be run.
pub(crate) fn print_path(rustc: &Path, what: &[&str]) -> Option<PathBuf> {
    let output = Command::new(rustc)
        .arg("--print")
        .args(what)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| PathBuf::from(text.trim()))
}

/// Where the sources of a compiler's standard library are.
pub(crate) fn sources(rustc: &Path) -> Option<PathBuf> {
    Some(print_path(rustc, &["sysroot"])?.join("lib/rustlib/src/rust"))
}

fn has_target(rustc: &Path) -> bool {
    print_path(rustc, &["target-libdir", "--target", TARGET]).is_some_and(|dir| {
        let mut files = dir.read_dir().into_iter().flatten().flatten();
        files.any(|file| is_std(&file.file_name()))
    })
}

fn is_std(file: &OsString) -> bool {
    let name = file.to_string_lossy();
    name.starts_with("libstd-") && name.ends_with(".rlib")
}

fn has_sources(rustc: &Path) -> bool {
    sources(rustc).is_some_and(|dir| dir.join("library/std/Cargo.toml").is_file())
}

fn rust_lld(rustc: &Path) -> Option<PathBuf> {
    let libdir = print_path(rustc, &["target-libdir"])?;
    let lld = libdir.parent()?.join("bin/rust-lld");
    lld.is_file().then_some(lld)
}
