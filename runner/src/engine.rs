//! The engine as a component: loading it, the contracts that this runner can
//! host, and the limits it runs under. It must not know the driver or a core.

mod code;
#[cfg(feature = "compiler")]
mod code_cache;
mod component;
mod contract;
pub(crate) mod limits;
pub(crate) mod track;
pub(crate) mod v0_1;
#[cfg(test)]
mod v0_2;

#[cfg(feature = "compiler")]
pub use code_cache::CodeCache;
pub use component::{Component, LoadError};
pub use limits::Limits;
