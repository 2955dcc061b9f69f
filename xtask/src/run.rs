//! Running other programs, and saying so. It must not know which.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// The project's root.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(chosen.unwrap_or_else(|| "target".into()))
}

/// One line for the person at the terminal.
#[allow(clippy::print_stderr, reason = "chores speak on stderr")]
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// A program to run, in the project's root.
pub(crate) struct Program(Command);

pub(crate) fn program(name: impl AsRef<OsStr>) -> Program {
    let mut command = Command::new(name);
    command.current_dir(root());
    Program(command)
}

pub(crate) fn cargo<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Program {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).args(args)
}

impl Program {
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Says what runs, runs it, and fails if it fails.
    pub(crate) fn run(mut self) -> Result<()> {
        let line = self.line();
        say(&format!("> {line}"));
        let status = self
            .0
            .status()
            .with_context(|| format!("failed to run `{line}`"))?;
        if !status.success() {
            bail!("`{line}` failed ({status})");
        }
        Ok(())
    }

    /// Whether it can be run and succeeds; its output is not shown.
    pub(crate) fn succeeds(mut self) -> bool {
        self.0.output().is_ok_and(|output| output.status.success())
    }

    fn line(&self) -> String {
        let name = Path::new(self.0.get_program())
            .file_name()
            .unwrap_or_default();
        let words = [name].into_iter().chain(self.0.get_args());
        words
            .map(OsStr::to_string_lossy)
            .collect::<Vec<_>>()
            .join(" ")
    }
}
