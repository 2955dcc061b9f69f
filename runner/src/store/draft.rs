//! A cache over another one: what is written stays here until it is passed on, so that
//! it can be dropped instead. It must not know why.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::pairs::Pairs;
use super::{Cache, CacheError};

/// What has been written over a cache and not passed on to it.
pub(crate) struct Draft {
    below: Arc<dyn Cache>,
    /// None once everything goes straight down.
    changes: Mutex<Option<Changes>>,
}

#[derive(Default)]
struct Changes {
    written: Pairs,
    /// Keys of the cache below that are gone.
    deleted: BTreeSet<String>,
}

impl Draft {
    pub(crate) fn over(below: Arc<dyn Cache>) -> Self {
        Self {
            below,
            changes: Mutex::new(Some(Changes::default())),
        }
    }

    /// Passes on all that was written, in one change, and from now on everything at once.
    ///
    /// # Errors
    /// When the cache below cannot be written; what it did not take is lost.
    pub(crate) fn pass_on(&self) -> Result<(), CacheError> {
        let Some(changes) = self.changes().take() else {
            return Ok(());
        };
        let deleted: Vec<String> = changes.deleted.into_iter().collect();
        self.below
            .update(&deleted, &changes.written.with_prefix(""))
    }

    fn changes(&self) -> MutexGuard<'_, Option<Changes>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache for Draft {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError> {
        if let Some(changes) = &*self.changes() {
            if let Some(value) = changes.written.get(key) {
                return Ok(Some(value.to_vec()));
            }
            if changes.deleted.contains(key) {
                return Ok(None);
            }
        }
        self.below.get(key)
    }

    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        let mut pairs = self.below.get_prefix(prefix)?;
        if let Some(changes) = &*self.changes() {
            pairs.retain(|(key, _)| !changes.hides(key));
            pairs.extend(changes.written.with_prefix(prefix));
            pairs.sort_unstable();
        }
        Ok(pairs)
    }

    fn keys(&self) -> Result<Vec<String>, CacheError> {
        let mut keys = self.below.keys()?;
        if let Some(changes) = &*self.changes() {
            keys.retain(|key| !changes.hides(key));
            keys.extend(changes.written.keys());
            keys.sort_unstable();
        }
        Ok(keys)
    }

    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        let mut changes = self.changes();
        let Some(changes) = &mut *changes else {
            return self.below.update(delete, set);
        };
        changes.written.update(delete, set)?;
        for key in delete {
            // Only those that there are, so that they cannot become too many.
            if self.below.get(key)?.is_some() {
                changes.deleted.insert(key.clone());
            }
        }
        for (key, _) in set {
            changes.deleted.remove(key);
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), CacheError> {
        self.below.flush()
    }
}

impl Changes {
    /// Whether a pair of the cache below is not to be seen.
    fn hides(&self, key: &str) -> bool {
        self.deleted.contains(key) || self.written.get(key).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryCache;

    fn pair(key: &str, value: &str) -> (String, Vec<u8>) {
        (key.to_owned(), value.as_bytes().to_vec())
    }

    /// A draft with one pair changed, one deleted and one more, over two others.
    fn drafted() -> (Arc<MemoryCache>, Draft) {
        let below = Arc::new(MemoryCache::new());
        let pairs = [pair("a", "1"), pair("b", "1"), pair("c", "1")];
        below.update(&[], &pairs).unwrap();
        let draft = Draft::over(below.clone());
        let delete = ["b".to_owned(), "nowhere".to_owned()];
        draft
            .update(&delete, &[pair("a", "2"), pair("d", "2")])
            .unwrap();
        (below, draft)
    }

    const CHANGED: [(&str, &str); 3] = [("a", "2"), ("c", "1"), ("d", "2")];

    fn holds(cache: &dyn Cache, pairs: &[(&str, &str)]) {
        let expected: Vec<_> = pairs.iter().map(|(key, value)| pair(key, value)).collect();
        assert_eq!(cache.get_prefix("").unwrap(), expected);
        let keys: Vec<_> = pairs.iter().map(|(key, _)| *key).collect();
        assert_eq!(cache.keys().unwrap(), keys);
        assert_eq!(cache.get("b").unwrap(), None);
    }

    #[test]
    fn what_is_written_is_seen_over_the_cache_below_which_stays_as_it_is() {
        let (below, draft) = drafted();
        holds(&draft, &CHANGED);
        assert_eq!(below.get("a").unwrap().as_deref(), Some(&b"1"[..]));
        assert_eq!(below.keys().unwrap(), ["a", "b", "c"]);
    }

    #[test]
    fn what_is_passed_on_stands_below_and_what_comes_after_goes_there_at_once() {
        let (below, draft) = drafted();
        draft.pass_on().unwrap();
        holds(&*below, &CHANGED);
        draft.set("e", b"3").unwrap();
        draft.pass_on().unwrap();
        assert_eq!(below.get("e").unwrap().as_deref(), Some(&b"3"[..]));
    }

    #[test]
    fn what_was_deleted_can_be_written_again() {
        let (_, draft) = drafted();
        draft.set("b", b"4").unwrap();
        assert_eq!(draft.get("b").unwrap().as_deref(), Some(&b"4"[..]));
        assert_eq!(draft.keys().unwrap(), ["a", "b", "c", "d"]);
    }
}
