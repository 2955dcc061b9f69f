//! Where results and compiled code are saved between runs, and going on without when they
//! cannot be. It must not know what is saved.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use outwatch::config::CacheFile;
use outwatch::{CodeCache, FileCache};

/// Which cache a verb uses.
#[derive(Debug, clap::Args)]
pub(crate) struct CacheArgs {
    /// Save results in this file, and start with those in it
    #[arg(long, value_name = "FILE", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,
    /// Save nothing, no compiled code either, and start with nothing
    #[arg(long)]
    no_cache: bool,
}

impl CacheArgs {
    /// Opens the cache: the file asked for, else the config's, else the user's own.
    /// None when results are to be forgotten, or when the file cannot be used: then
    /// the log says why.
    pub(crate) fn open(&self, config: &CacheFile) -> Option<FileCache> {
        if self.no_cache {
            return None;
        }
        let path = self
            .cache
            .clone()
            .or_else(|| of_config(config))
            .or_else(|| users_own("results.redb"))?;
        match FileCache::open(&path) {
            Ok(cache) => {
                if let Some(warning) = cache.opened().warning() {
                    tracing::warn!("{warning}");
                }
                Some(cache)
            }
            Err(error) => {
                let causes =
                    std::iter::successors(std::error::Error::source(&error), |e| e.source());
                let why: String = causes.map(|cause| format!(": {cause}")).collect();
                tracing::warn!("results are not saved: {error}{why}");
                None
            }
        }
    }

    /// Where compiled code is kept; nowhere when nothing is to be saved.
    pub(crate) fn code(&self) -> Option<CodeCache> {
        if self.no_cache { None } else { users_code() }
    }
}

/// Where the user's compiled code is kept.
pub(crate) fn users_code() -> Option<CodeCache> {
    users_own("code").map(CodeCache::in_folder)
}

/// The file that a config names. A proxy core may save other things in a file of
/// that name; such a file is left alone.
fn of_config(config: &CacheFile) -> Option<PathBuf> {
    let path = config.path.clone().filter(|_| config.enabled)?;
    if is_anothers(&path) {
        tracing::warn!("results are not saved in {path:?}: it is another program's");
        return None;
    }
    Some(path)
}

/// Whether there is something in a file that redb did not write.
fn is_anothers(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(4).read_to_end(&mut start));
    read.is_ok() && !start.is_empty() && start != b"redb"
}

/// This file or folder of ours in the user's cache directory.
fn users_own(name: &str) -> Option<PathBuf> {
    let home = || {
        std::env::var_os("HOME")
            .filter(|home| !home.is_empty())
            .map(PathBuf::from)
    };
    let directory = if cfg!(windows) {
        std::env::var_os("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else {
        // The XDG rules: a path that is not absolute does not count.
        std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| home().map(|home| home.join(".cache")))
    };
    directory.map(|directory| directory.join("outwatch").join(name))
}
