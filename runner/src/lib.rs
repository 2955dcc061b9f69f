//! Monitors the outbounds of a proxy core: delay, exit IP, country and network of
//! each.

pub mod config;
mod core;
pub mod fetch;
mod proxy_core;
mod report;
#[cfg(test)]
mod testing;

pub use crate::core::{NativeCore, SelectError};
pub use proxy_core::*;
pub use report::*;
/// Placeholder until the driver stands.
pub struct Monitor;
impl Monitor {
    /// Placeholder.
    pub fn outbounds_changed(&self) {}
}
