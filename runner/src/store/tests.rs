//! What every cache does, in memory or in a file. These tests must not know which
//! one it is.

use super::*;

/// Runs a story with both caches, the file's being opened anew at each pause.
fn with_each(story: impl Fn(&dyn Fn() -> Box<dyn Cache>)) {
    let memory = std::sync::Arc::new(MemoryCache::new());
    story(&|| Box::new(Shared(memory.clone())));
    let folder = tempfile::tempdir().expect("a folder");
    story(&|| Box::new(FileCache::open(folder.path().join("cache")).expect("opens")));
}

/// Lets a story drop a memory cache and find it again.
struct Shared(std::sync::Arc<MemoryCache>);

impl Cache for Shared {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError> {
        self.0.get(key)
    }

    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        self.0.get_prefix(prefix)
    }

    fn keys(&self) -> Result<Vec<String>, CacheError> {
        self.0.keys()
    }

    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        self.0.update(delete, set)
    }
}

fn pair(key: &str, value: &str) -> (String, Vec<u8>) {
    (key.to_owned(), value.as_bytes().to_vec())
}

/// All of a cache as `key=value` words.
fn all(cache: &dyn Cache) -> String {
    let pairs = cache.get_prefix("").expect("readable");
    let word = |(key, value): &(String, Vec<u8>)| format!("{key}={}", value.escape_ascii());
    pairs.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn p1_what_is_written_is_read_at_once_and_after_opening_again() {
    with_each(|open| {
        let cache = open();
        assert_eq!(cache.get("a"), Ok(None));
        cache.set("a", b"1").expect("set");
        cache.set("a", b"\0\xff").expect("set again");
        cache.set("", b"").expect("an empty key is a key");
        assert_eq!(cache.get("a"), Ok(Some(vec![0, 255])));
        assert_eq!(cache.get(""), Ok(Some(vec![])));
        drop(cache);
        assert_eq!(all(&*open()), r"= a=\x00\xff");
    });
}

#[test]
fn p1_what_is_deleted_is_gone_and_deleting_nothing_does_nothing() {
    with_each(|open| {
        let cache = open();
        cache.set("a", b"1").expect("set");
        cache.set("b", b"2").expect("set");
        cache.delete("a").expect("delete");
        cache.delete("a").expect("delete again");
        assert_eq!(all(&*cache), "b=2");
        drop(cache);
        assert_eq!(all(&*open()), "b=2");
    });
}

#[test]
fn p1_keys_and_pairs_come_in_key_order_and_a_prefix_is_exact() {
    with_each(|open| {
        let cache = open();
        for key in [
            "result/b",
            "resulu",
            "result/a",
            "result",
            "result/\u{1f1e9}",
            "z",
            "result/",
        ] {
            cache.set(key, b"1").expect("set");
        }
        let inside: Vec<_> = cache
            .get_prefix("result/")
            .expect("read")
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        assert_eq!(
            inside,
            ["result/", "result/a", "result/b", "result/\u{1f1e9}"]
        );
        assert_eq!(cache.get_prefix("nothing"), Ok(vec![]));
        let keys = cache.keys().expect("read");
        assert!(keys.is_sorted() && keys.len() == 7, "{keys:?}");
        drop(cache);
        assert_eq!(open().keys(), Ok(keys));
    });
}

#[test]
fn p3_a_change_removes_and_writes_together_and_writing_wins() {
    with_each(|open| {
        let cache = open();
        cache
            .update(&[], &[pair("a", "1"), pair("b", "1"), pair("c", "1")])
            .expect("update");
        let delete = ["a", "b", "nothing"].map(str::to_owned);
        cache
            .update(&delete, &[pair("b", "2"), pair("d", "1"), pair("d", "2")])
            .expect("update");
        assert_eq!(all(&*cache), "b=2 c=1 d=2");
        drop(cache);
        assert_eq!(all(&*open()), "b=2 c=1 d=2");
    });
}

#[test]
fn p3_what_is_too_large_changes_nothing() {
    with_each(|open| {
        let cache = open();
        cache.set("a", b"1").expect("set");
        let long = "k".repeat(KEY_LIMIT + 1);
        let large = vec![0; VALUE_LIMIT + 1];
        let delete = ["a".to_owned()];
        for wrong in [(long, vec![]), ("big".to_owned(), large)] {
            let result = cache.update(&delete, &[pair("b", "1"), wrong]);
            assert!(matches!(result, Err(CacheError::TooLarge(_))), "{result:?}");
            assert_eq!(all(&*cache), "a=1");
        }
        let largest = ("k".repeat(KEY_LIMIT), vec![7; VALUE_LIMIT]);
        cache
            .update(&[], std::slice::from_ref(&largest))
            .expect("the limit itself is fine");
        drop(cache);
        assert_eq!(open().get(&largest.0), Ok(Some(largest.1)));
    });
}

#[test]
fn p3_a_full_cache_takes_no_more_until_something_is_gone() {
    let cache = MemoryCache::new();
    let value = vec![0; VALUE_LIMIT - 2];
    for n in 10..74 {
        cache.set(&format!("{n}"), &value).expect("64 MiB fit");
    }
    assert!(matches!(cache.set("x", b""), Err(CacheError::TooLarge(_))));
    assert_eq!(cache.get("x"), Ok(None));
    cache
        .update(&["10".to_owned()], &[("x".to_owned(), value)])
        .expect("there is room again");
    cache
        .set("11", b"less")
        .expect("shrinking is always possible");
}

#[test]
fn p3_errors_say_what_is_wrong() {
    let cache = MemoryCache::new();
    let error = cache.set(&"k".repeat(2000), b"").expect_err("too large");
    assert_eq!(
        error.to_string(),
        "too large for the cache: a key of 2000 bytes, more than 1024"
    );
}
