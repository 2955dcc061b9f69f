//! stub
pub trait Cache: Send + Sync + 'static {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, CacheError>;
    fn get_prefix(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError>;
    fn set(&self, key: &str, value: &[u8]) -> Result<(), CacheError>;
    fn delete(&self, key: &str) -> Result<(), CacheError>;
    fn keys(&self) -> Result<Vec<String>, CacheError>;
    fn update(&self, delete: &[String], set: &[(String, Vec<u8>)]) -> Result<(), CacheError>;
}
#[derive(Default)]
pub struct MemoryCache;
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("{0}")]
    Unavailable(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("{0}")]
    Other(String),
}
impl Cache for MemoryCache {
    fn get(&self, _: &str) -> Result<Option<Vec<u8>>, CacheError> {
        Ok(None)
    }
    fn get_prefix(&self, _: &str) -> Result<Vec<(String, Vec<u8>)>, CacheError> {
        Ok(vec![])
    }
    fn set(&self, _: &str, _: &[u8]) -> Result<(), CacheError> {
        Ok(())
    }
    fn delete(&self, _: &str) -> Result<(), CacheError> {
        Ok(())
    }
    fn keys(&self) -> Result<Vec<String>, CacheError> {
        Ok(vec![])
    }
    fn update(&self, _: &[String], _: &[(String, Vec<u8>)]) -> Result<(), CacheError> {
        Ok(())
    }
}
