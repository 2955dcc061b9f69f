//! What the project's whole-house tests share: a stub core on virtual time, and real
//! servers on loopback. It must not hold any expectation of its own.

pub mod engines;
pub mod http;
pub mod parity;
pub mod peers;
pub mod stub;
