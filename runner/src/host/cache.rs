//! The import `cache`: the monitor's store as the component sees it. It must not
//! know where the store keeps its pairs.

use super::HostState;
use crate::engine::v0_1::cache;
use crate::store::CacheError;

type Result<T> = std::result::Result<T, cache::CacheError>;

impl cache::Host for HostState {
    fn get(&mut self, key: String) -> Result<Option<Vec<u8>>> {
        self.world.cache.get(&key).map_err(error_out)
    }

    fn get_prefix(&mut self, prefix: String) -> Result<Vec<(String, Vec<u8>)>> {
        self.world.cache.get_prefix(&prefix).map_err(error_out)
    }

    fn set(&mut self, key: String, value: Vec<u8>) -> Result<()> {
        self.world.cache.set(&key, &value).map_err(error_out)
    }

    fn delete(&mut self, key: String) -> Result<()> {
        self.world.cache.delete(&key).map_err(error_out)
    }

    fn keys(&mut self) -> Result<Vec<String>> {
        self.world.cache.keys().map_err(error_out)
    }

    fn update(&mut self, delete: Vec<String>, set: Vec<(String, Vec<u8>)>) -> Result<()> {
        self.world.cache.update(&delete, &set).map_err(error_out)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn error_out(error: CacheError) -> cache::CacheError {
    let text = error.to_string();
    match error {
        CacheError::Unavailable(_) => cache::CacheError::Unavailable(text),
        CacheError::TooLarge(_) => cache::CacheError::TooLarge(text),
        CacheError::Other(_) => cache::CacheError::Other(text),
    }
}
