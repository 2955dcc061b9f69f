//! What the project's whole-house tests share: a stub core on virtual time, real servers
//! on loopback, and a real browser. It must not hold any expectation of its own.

pub mod browser;
pub mod engines;
pub mod http;
pub mod parity;
pub mod peers;
pub mod stub;
