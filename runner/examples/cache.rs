//! A cache of your own: results are kept wherever the app keeps its settings, here in one
//! JSON file. A second start knows what the first one found before it has tested anything.
#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use outwatch::config::{self, LoadOptions};
use outwatch::{Cache, CacheError, Monitor, NativeCore, View};

/// Read once and held in memory, so that the engine never waits for the disk; written when
/// the monitor stops. `FileCache` also writes while it runs, and survives being killed.
struct JsonCache {
    path: PathBuf,
    pairs: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl JsonCache {
    fn open(path: PathBuf) -> Self {
        let text = std::fs::read(&path).unwrap_or_default();
        let pairs = Mutex::new(serde_json::from_slice(&text).unwrap_or_default());
        Self { path, pairs }
    }

    fn pairs(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache for JsonCache {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError> {
        Ok(self.pairs().get(key).cloned())
    }

    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        let pairs = self.pairs();
        let found = pairs.iter().filter(|(key, _)| key.starts_with(prefix));
        Ok(found
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect())
    }

    fn keys(&self) -> Result<Vec<String>, CacheError> {
        Ok(self.pairs().keys().cloned().collect())
    }

    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        let mut pairs = self.pairs();
        pairs.retain(|key, _| !delete.contains(key));
        pairs.extend(set.iter().cloned());
        Ok(())
    }

    fn flush(&self) -> Result<(), CacheError> {
        let wrong = |error: String| CacheError::Unavailable(error);
        let text = serde_json::to_vec(&*self.pairs()).map_err(|error| wrong(error.to_string()))?;
        std::fs::write(&self.path, text).map_err(|error| wrong(error.to_string()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let options = arguments.next().unwrap_or_default();
    let path = PathBuf::from(arguments.next().unwrap_or("results.json".to_owned()));

    // Paused, it tests only what is asked for.
    let builder = Monitor::builder(my_core()?).options(options).paused();
    let monitor = builder.cache(JsonCache::open(path)).start().await?;
    for report in monitor.reports(View::Confirmed).await {
        println!("before: {}", serde_json::to_string(&report)?);
    }
    let report = monitor.test("straight").await?;
    println!("after: {}", serde_json::to_string(&report)?);
    monitor.stop().await?;
    Ok(())
}

/// Any core will do; this is the one that comes along.
fn my_core() -> Result<NativeCore, &'static str> {
    let text = br#"{ "outbounds": [{ "type": "direct", "tag": "straight" }] }"#;
    let config = config::read("inline", text, &LoadOptions::default()).config;
    let (core, _) = NativeCore::new(&config.ok_or("a config")?.entries, None);
    Ok(core)
}
