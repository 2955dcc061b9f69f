//! The cache: a small key-value store that outlives the process, as the contract's
//! `cache` interface wants it. It must not know what is stored, nor by whom.
//!
//! ```
//! use outwatch::{Cache, FileCache};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("results.redb");
//! let cache = FileCache::open(&path)?;
//! if let Some(warning) = cache.opened().warning() {
//!     eprintln!("warning: {warning}");
//! }
//! cache.set("result/a", b"42")?;
//! drop(cache); // waits until it is on disk
//!
//! let cache = FileCache::open(&path)?;
//! assert_eq!(cache.get("result/a")?.as_deref(), Some(&b"42"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "file-cache")]
mod disk;
mod draft;
#[cfg(feature = "file-cache")]
mod file;
mod memory;
mod pairs;
#[cfg(feature = "file-cache")]
mod writer;

use std::sync::Arc;

pub(crate) use draft::Draft;
#[cfg(feature = "file-cache")]
pub use file::{FileCache, OpenError, Opened};
pub use memory::MemoryCache;

/// Longest key, in bytes.
pub const KEY_LIMIT: usize = 1024;
/// Largest value, in bytes.
pub const VALUE_LIMIT: usize = 1024 * 1024;
/// Most that one cache holds, keys and values together, in bytes. It is held in
/// memory too, where the memory limit of a component does not reach.
pub const TOTAL_LIMIT: usize = 64 * 1024 * 1024;

/// A key-value store that a monitor saves its results in.
///
/// Each function is atomic and must return at once: it is called from the task
/// that runs the component. An error is never fatal to monitoring, which goes on
/// without what could not be read or written.
pub trait Cache: Send + Sync + 'static {
    /// The value of a key; `None` when there is none.
    ///
    /// # Errors
    ///
    /// When the store cannot be read now.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError>;

    /// Every pair whose key starts with `prefix`, in key order.
    ///
    /// # Errors
    ///
    /// When the store cannot be read now.
    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError>;

    /// Writes one pair.
    ///
    /// # Errors
    ///
    /// When the store cannot be written now or the pair is too large; then nothing
    /// has changed.
    fn set(&self, key: &str, value: &[u8]) -> Result<(), CacheError> {
        self.update(&[], &[(key.to_owned(), value.to_owned())])
    }

    /// Removes a key; does nothing if there is none.
    ///
    /// # Errors
    ///
    /// When the store cannot be written now.
    fn delete(&self, key: &str) -> Result<(), CacheError> {
        self.update(&[key.to_owned()], &[])
    }

    /// Every key, in key order.
    ///
    /// # Errors
    ///
    /// When the store cannot be read now.
    fn keys(&self) -> Result<Vec<String>, CacheError>;

    /// Removes and writes in one change: all of it happens or none. A key in both
    /// lists is written; of a key twice in `set` the last value counts.
    ///
    /// # Errors
    ///
    /// When the store cannot be written now or a pair is too large; then nothing
    /// has changed.
    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError>;

    /// Waits until everything written so far is where it outlives the process. The
    /// one function that may take its time; a monitor calls it when it stops.
    ///
    /// # Errors
    ///
    /// When it cannot be written. It stays readable, and is tried again with the
    /// next change.
    fn flush(&self) -> Result<(), CacheError> {
        Ok(())
    }
}

/// Why the cache did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// There is no store, or it cannot be used now.
    #[error("the cache cannot be used: {0}")]
    Unavailable(String),
    /// A key, a value or all of them together are larger than what is stored.
    #[error("too large for the cache: {0}")]
    TooLarge(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// A cache that its owner goes on using, or shares between monitors in turn.
impl<C: Cache + ?Sized> Cache for Arc<C> {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError> {
        (**self).get(key)
    }

    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        (**self).get_prefix(prefix)
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), CacheError> {
        (**self).set(key, value)
    }

    fn delete(&self, key: &str) -> Result<(), CacheError> {
        (**self).delete(key)
    }

    fn keys(&self) -> Result<Vec<String>, CacheError> {
        (**self).keys()
    }

    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        (**self).update(delete, set)
    }

    fn flush(&self) -> Result<(), CacheError> {
        (**self).flush()
    }
}

#[cfg(feature = "file-cache")]
#[cfg(test)]
mod killed;
#[cfg(feature = "file-cache")]
#[cfg(test)]
mod tests;
