//! Monitors the outbounds of a proxy core: delay, exit IP, country and network of
//! each.

pub mod config;
mod core;
mod driver;
mod engine;
pub mod fetch;
mod host;
mod monitor;
mod proxy_core;
mod report;
pub mod store;

pub use crate::core::{NativeCore, SelectError};
pub use engine::{Component, LoadError};
pub use monitor::{Builder, Fault, Monitor, StartError, StopError, TestError, Updates};
pub use proxy_core::*;
pub use report::*;
