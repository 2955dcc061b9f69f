//! The process's one wasmtime engine, and machine code for it. It must not know what a
//! component is for, nor where its code is kept.

use std::sync::OnceLock;

#[cfg(feature = "compiler")]
use wasmtime::component::Component as Wasm;
use wasmtime::{Config, Engine};

use super::component::LoadError;

/// How components are run, and compiled by an engine that has the compiler enabled. None
/// that stays has it: a process that finds its code compiled has no compiler in memory.
pub(super) fn config() -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    #[cfg(feature = "compiler")]
    config.enable_compiler(false);
    config
}

/// The process's one wasmtime engine.
pub(super) fn engine() -> Result<&'static Engine, LoadError> {
    static ENGINE: OnceLock<Result<Engine, String>> = OnceLock::new();
    let engine =
        ENGINE.get_or_init(|| Engine::new(&config()).map_err(|error| format!("{error:#}")));
    engine
        .as_ref()
        .map_err(|reason| LoadError::Unavailable(reason.clone()))
}

/// Compiles for an engine, in another one like it and in threads that end with that: an
/// engine keeps what its compiler worked with, and no process does this often.
#[cfg(feature = "compiler")]
pub(super) fn compile(engine: &Engine, bytes: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let engine = Engine::new(engine.config().clone().enable_compiler(true))?;
    match rayon::ThreadPoolBuilder::new().build() {
        Ok(threads) => threads.install(|| engine.precompile_component(bytes)),
        // No more threads can be had: as wasmtime does it by itself.
        Err(_) => engine.precompile_component(bytes),
    }
}

/// What [`compile`] just gave.
#[cfg(feature = "compiler")]
pub(super) fn load(engine: &Engine, code: &[u8]) -> wasmtime::Result<Wasm> {
    #[allow(unsafe_code, reason = "no one had it meanwhile")]
    unsafe {
        Wasm::deserialize(engine, code)
    }
}
