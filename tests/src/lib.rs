//! What the project's whole-house tests share: a stub core on virtual time.
//! It must not hold any expectation of its own.

pub mod stub;
