//! Monitors the outbounds of a proxy core: the delay through each, and the IP,
//! country and network it exits from.
//!
//! The logic is a WebAssembly component that this crate brings and runs; your core
//! comes in as one trait, [`ProxyCore`]. Implement it, start a [`Monitor`] over it, and
//! ask or watch:
//!
//! ```no_run
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! # The parts
//!
//! - [`Monitor`] is what you hold: [`test`](Monitor::test) one outbound now,
//!   [`subscribe`](Monitor::subscribe) to changes, read
//!   [`reports`](Monitor::reports), and tell it what happened
//!   ([`activity`](Monitor::activity), [`network_changed`](Monitor::network_changed), …).
//!   **Testing stops when nobody uses the connection: call
//!   [`activity`](Monitor::activity) for every connection of a user.** It is cheap.
//! - [`ProxyCore`] is your core. `list`, `selected` and `status` must return at once;
//!   [`dial`](ProxyCore::dial) opens a stream through one outbound. A core that carries
//!   datagrams overrides [`associate`](ProxyCore::associate), and one that fetches by
//!   itself [`fetch`](ProxyCore::fetch).
//! - [`Report`] is all that is known of one outbound or group, in one of two
//!   [`View`]s: what groups choose by, and what people look at.
//! - [`Cache`] keeps results between runs: [`FileCache`] in a
//!   file, [`MemoryCache`] not at all.
//! - [`Component`] is the engine: the embedded one, or another file of the same
//!   contract, or code that was [compiled before](Component::precompile). [`CodeCache`]
//!   keeps what it is compiled to between starts, [`Monitor::replace_component`] puts another
//!   in its place while it runs, and [`Limits`] bound what one may do.
//! - [`inbound`] lets users' connections in (SOCKS, HTTP) and hands each to an
//!   [`Upstream`](inbound::Upstream); [`network`] tells when the host's network changed.
//! - [`NativeCore`] and [`config`] are a small core and its sing-box style config file;
//!   the CLI is made of them. [`SingBoxCore`] runs a sing-box for all that the small one
//!   cannot dial. [`links`] makes a config of share links.
//! - [`api`] answers over HTTP: to programs, Prometheus, dashboards and a page for people.
//! - [`conformance`] checks what every core promises on yours.
//!
//! Each of these that a host can do without is a feature, and all are on by default;
//! `docs/EMBEDDING.md` says what each brings and weighs, and how other languages and hosts
//! that may not compile embed this.
//!
//! # Threads
//!
//! A monitor is a task on the tokio runtime that it was started on, and each fetch is
//! one more; the runtime needs time and I/O enabled. A runtime of one thread tests at the
//! least cost: threads that wake each other take a third more. One thread per process watches
//! that no component computes without end; it sleeps while none computes.

#![cfg_attr(
    not(feature = "cli"),
    allow(
        dead_code,
        unused_imports,
        reason = "rooms share what not each of them uses"
    )
)]

#[cfg(feature = "api")]
pub mod api;
#[cfg(feature = "native-core")]
pub mod config;
pub mod conformance;
#[cfg(feature = "native-core")]
mod core;
#[cfg(feature = "inbound")]
pub mod dispatch;
mod driver;
mod engine;
#[cfg(feature = "fetch")]
pub mod fetch;
#[cfg(feature = "inbound")]
pub mod group;
mod host;
#[cfg(feature = "inbound")]
pub mod inbound;
#[cfg(feature = "native-core")]
mod link;
#[cfg(feature = "native-core")]
pub mod links;
mod monitor;
#[cfg(feature = "network")]
pub mod network;
mod proxy_core;
mod report;
#[cfg(feature = "sing-box")]
mod sing_box;
#[cfg(feature = "native-core")]
mod socks;
pub mod store;
#[cfg(doctest)]
#[doc = include_str!("../../docs/SWAPPING.md")]
mod swapping {}
#[cfg(feature = "fetch")]
#[cfg(test)]
mod testing;
#[cfg(feature = "native-core")]
mod udp;
#[cfg(feature = "api")]
mod web;

#[cfg(feature = "native-core")]
pub use crate::core::NativeCore;
#[cfg(feature = "compiler")]
pub use engine::CodeCache;
pub use engine::{Component, Limits, LoadError};
pub use monitor::{
    Builder, Fault, Monitor, ReplaceError, Replaced, StartError, StopError, TestError, Updates,
};
pub use proxy_core::*;
pub use report::*;
#[cfg(feature = "sing-box")]
pub use sing_box::{CoreEvent, CoreEvents, SingBoxCore, SingBoxError};
#[cfg(feature = "file-cache")]
pub use store::FileCache;
pub use store::{Cache, CacheError, MemoryCache};
