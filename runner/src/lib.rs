//! Monitors the outbounds of a proxy core: delay, exit IP, country and network of
//! each.

pub mod config;
pub mod fetch;
mod proxy_core;
mod report;
pub mod store;

pub use proxy_core::*;
pub use report::*;
pub use store::{Cache, CacheError, FileCache, MemoryCache};
/// Placeholder until the driver stands.
pub struct Monitor;
impl Monitor {
    /// Placeholder.
    pub fn outbounds_changed(&self) {}
}
