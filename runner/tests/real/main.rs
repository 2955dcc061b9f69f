//! The real binary over real servers: hundreds of outbounds, and kills at any moment.

mod clash;
mod flood;
mod hundreds;
mod kills;
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
