//! A cache in a file: what is done with a file that is missing, in use, broken or
//! too new. It must not know how a file is written.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use super::disk::{self, Disk, Unopened};
use super::writer::Writer;
use super::{Cache, CacheError};

/// A cache in a file, read once when it is opened.
///
/// Reading and changing it never waits for the disk: a thread of its own writes
/// each change, as a whole, a moment later. A kill at any moment leaves the file as
/// it was before or after a change. [`Cache::flush`] and dropping it wait for what
/// has not been written yet.
///
/// One process at a time can have a file open.
pub struct FileCache {
    writer: Writer,
    path: PathBuf,
    opened: Opened,
}

/// What there was when a [`FileCache`] was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The file of an earlier run.
    Existing,
    /// Nothing; a file was made.
    New,
    /// A file that could not be read; a new one was made.
    Replaced {
        /// Where the file was.
        path: PathBuf,
        /// Where it is now.
        kept: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Why a [`FileCache`] could not be opened. The file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process, or this one, has it open.
    #[error("the cache {path:?} is in use by another process; stop that one, or use another file")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this program wrote it.
    #[error(
        "the cache {path:?} was written by a newer version (format {found}; this one reads up to \
         {known}); update this program, or use another file"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's format.
        found: u32,
        /// The newest format that can be read.
        known: u32,
    },
    /// It is a directory, a device, ...
    #[error("the cache {path:?} is not a file; use another path")]
    NotAFile {
        /// What is not a file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("failed to open the cache {path:?}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FileCache {
    /// Opens a file, or makes one that only its owner can read, and the folders it
    /// is in.
    ///
    /// A file that is broken, or not a cache at all, is renamed to
    /// `<name>.broken-<n>` and a new one made; [`opened`](Self::opened) tells.
    ///
    /// # Errors
    ///
    /// When another process has it open, when a newer version wrote it, or when the
    /// system refuses.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let io_error = |source| OpenError::Io {
            path: path.to_owned(),
            source,
        };
        let mut opened = Opened::Existing;
        if is_missing(path)? {
            create(path).map_err(io_error)?;
            opened = Opened::New;
        }
        let (disk, pairs) = match Disk::open(path) {
            Err(Unopened::Broken(why)) => {
                let kept = keep_aside(path).map_err(io_error)?;
                create(path).map_err(io_error)?;
                opened = Opened::Replaced {
                    path: path.to_owned(),
                    kept,
                    why,
                };
                Disk::open(path)
            }
            result => result,
        }
        .map_err(|error| OpenError::new(path, error))?;
        let writer = Writer::start(pairs, disk).map_err(io_error)?;
        Ok(Self {
            writer,
            path: path.to_owned(),
            opened,
        })
    }

    /// What there was when it was opened.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Cache for FileCache {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError> {
        Ok(self.writer.read(|pairs| pairs.get(key).map(<[u8]>::to_vec)))
    }

    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        Ok(self.writer.read(|pairs| pairs.with_prefix(prefix)))
    }

    fn keys(&self) -> Result<Vec<String>, CacheError> {
        Ok(self.writer.read(|pairs| pairs.keys()))
    }

    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        self.writer.update(delete, set)
    }

    fn flush(&self) -> Result<(), CacheError> {
        self.writer.flush()
    }
}

/// Without the pairs.
impl fmt::Debug for FileCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            writer: _,
            path,
            opened,
        } = self;
        f.debug_struct("FileCache")
            .field("path", path)
            .field("opened", opened)
            .finish_non_exhaustive()
    }
}

impl Opened {
    /// What the user should be told, in one line.
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::Existing | Self::New => None,
            Self::Replaced { path, kept, why } => Some(format!(
                "the cache {path:?} cannot be read ({why}); it is kept as {kept:?}, and a new one \
                 is started"
            )),
        }
    }
}

impl OpenError {
    fn new(path: &Path, error: Unopened) -> Self {
        let path = path.to_owned();
        match error {
            Unopened::Locked => Self::Locked { path },
            Unopened::Newer(found) => Self::Newer {
                path,
                found,
                known: disk::FORMAT,
            },
            Unopened::Broken(why) => Self::Io {
                path,
                source: io::Error::other(why),
            },
            Unopened::Io(source) => Self::Io { path, source },
        }
    }
}

/// Whether there is no file, or one in which nothing was ever written.
fn is_missing(path: &Path) -> Result<bool, OpenError> {
    let io_error = |source| OpenError::Io {
        path: path.to_owned(),
        source,
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(io_error(error)),
        Ok(about) if !about.is_file() => Err(OpenError::NotAFile {
            path: path.to_owned(),
        }),
        Ok(about) if about.len() == 0 => fs::remove_file(path).map(|()| true).map_err(io_error),
        Ok(_) => Ok(false),
    }
}

fn create(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        let mut folders = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
        folders.recursive(true).create(folder)?;
    }
    disk::create(path)
}

/// Renames a file to the first free `<name>.broken-<n>`.
fn keep_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default();
    let kept = (1_u32..)
        .map(|n| {
            let mut name = name.to_owned();
            name.push(format!(".broken-{n}"));
            path.with_file_name(name)
        })
        .find(|kept| fs::symlink_metadata(kept).is_err());
    let kept = kept.ok_or(ErrorKind::AlreadyExists)?;
    fs::rename(path, &kept)?;
    Ok(kept)
}

#[cfg(test)]
mod tests;
