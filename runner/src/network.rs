//! The host's own network: notices that it changed. It must not know who wants to know,
//! nor what is done then.
//!
//! ```no_run
//! # async fn example(monitor: outwatch::Monitor) -> Result<(), outwatch::network::WatchError> {
//! let mut changes = outwatch::network::watch()?;
//! loop {
//!     changes.next().await;
//!     monitor.network_changed();
//! }
//! # }
//! ```
//!
//! That the device slept is not told here: the engine finds it by its clocks (C-6).

mod look;
mod settle;
mod source;

pub use self::settle::Changes;
pub use self::source::WatchError;

/// Watches the network of this host: netlink on Linux, what the system offers elsewhere.
/// To be called within a tokio runtime. It costs nothing while nothing happens.
///
/// # Errors
/// When the system does not let this process watch.
pub fn watch() -> Result<Changes, WatchError> {
    let (source, now) = source::Host::open()?;
    Ok(Changes::new(Box::new(source), now))
}
