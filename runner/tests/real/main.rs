//! The real binary over real servers: hundreds of outbounds, kills at any moment,
//! and the page in a browser.

mod api;
mod clash;
mod flood;
mod hundreds;
mod kills;
mod page;
mod process;
mod recovery;
mod reload;
mod restart;
mod sing_box;
#[cfg(target_os = "linux")]
mod soak;
mod swap;
mod traffic;
mod visit;
