//! Which contract a component was built for, as its exports say. It must not know
//! which ones this runner hosts.

use std::fmt;

use wasmtime::Engine;
use wasmtime::component::Component as Wasm;

/// What the names of the contract's interfaces begin with.
const PACKAGE: &str = "outwatch:monitor/";

/// A version of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contract(String);

impl Contract {
    /// The versions that fit each other have these two numbers in common; none such for
    /// what is no version.
    pub(super) fn track(&self) -> Option<(u64, u64)> {
        let mut numbers = self.0.split('.');
        let mut next = || numbers.next()?.parse().ok();
        Some((next()?, next()?))
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The contract of a component.
///
/// # Errors
/// When it is no engine, with what it is instead, for people.
pub(super) fn of(engine: &Engine, component: &Wasm) -> Result<Contract, String> {
    let ty = component.component_type();
    let exports: Vec<&str> = ty.exports(engine).map(|(name, _)| name).collect();
    let version = |name: &&str| Some(name.strip_prefix(PACKAGE)?.split_once('@')?.1.to_owned());
    match exports.iter().find_map(version) {
        Some(version) => Ok(Contract(version)),
        None if exports.is_empty() => Err("is no engine: it exports nothing".to_owned()),
        None => Err(format!("is no engine: it exports {}", exports.join(", "))),
    }
}
