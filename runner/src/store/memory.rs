//! A cache that lasts as long as the process. It must not know any file.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pairs::Pairs;
use super::{Cache, CacheError};

/// A cache that lasts as long as the process: for tests, and for those who want
/// nothing on disk.
#[derive(Debug, Default)]
pub struct MemoryCache {
    pairs: Mutex<Pairs>,
}

impl MemoryCache {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    fn pairs(&self) -> MutexGuard<'_, Pairs> {
        // No change is left half made by a panic: it is checked before it is made.
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache for MemoryCache {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError> {
        Ok(self.pairs().get(key).map(<[u8]>::to_vec))
    }

    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        Ok(self.pairs().with_prefix(prefix))
    }

    fn keys(&self) -> Result<Vec<String>, CacheError> {
        Ok(self.pairs().keys())
    }

    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        self.pairs().update(delete, set).map(drop)
    }
}
