//! A sing-box style config file: read, checked, and explained when it is wrong.
//! It must not know the monitor or any protocol.

mod model;

pub use model::{CacheFile, Config, Entry, Log};
