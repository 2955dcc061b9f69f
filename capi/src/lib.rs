//! The C interface of Outwatch: what `capi/include/outwatch.h` says, over the crate
//! `outwatch`. It must not know how anything is monitored.
//!
//! `docs/EMBEDDING.md` shows how it is used; the header, which is made from this crate,
//! is its reference. This is the one crate of the project whose code is unsafe.
//!
//! # The one rule of pointers
//!
//! What a function is given is NULL where its description allows that, or points to what
//! its type says: a text ends with a NUL and is UTF-8, a handle came from the library and
//! was not freed. It stays until the call returns; nothing is kept, all is copied.

mod border;
mod builder;
mod core;
mod engine;
mod exchange;
mod host;
mod listing;
mod log;
mod monitor;
mod thread;
mod watching;

pub use crate::core::*;
pub use border::*;
pub use builder::*;
pub use exchange::*;
pub use log::*;
pub use monitor::*;
pub use watching::*;

use std::ffi::c_char;

/// The library's version, such as `0.1.0`. It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn outwatch_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
