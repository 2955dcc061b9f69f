//! Loading a component: from the binary, a file or bytes, with a clear error for
//! everything that is not one. It must not run it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};
use wasmtime::component::Component as Wasm;
use wasmtime::{Config, Engine};

use super::code_cache::CodeCache;
use super::track::{self, Fitted, Misfit};

/// The engine that this version of the runner was built with.
static EMBEDDED: &[u8] = include_bytes!(env!("OUTWATCH_COMPONENT"));

/// A component that fits this runner, compiled and ready to start. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    inner: Arc<Loaded>,
}

struct Loaded {
    fitted: Box<dyn Fitted>,
    origin: String,
    sha256: String,
}

/// Why a component cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("failed to read the component {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The bytes are no component that this runner can compile.
    #[error("{origin} is not a component that this runner can compile: {reason}")]
    NotAComponent {
        /// The file, or how the bytes came.
        origin: String,
        /// What is wrong.
        reason: String,
    },
    /// It is a component, but no engine, or one of a contract that this runner does not
    /// host.
    #[error("{origin} {what}; this runner hosts {}", Component::CONTRACT)]
    NotHosted {
        /// The file, or how the bytes came.
        origin: String,
        /// What it is.
        what: String,
    },
    /// It is an engine, but not as its contract says.
    #[error("{origin} does not fit the contract {}: {reason}", Component::CONTRACT)]
    DoesNotFit {
        /// The file, or how the bytes came.
        origin: String,
        /// Which import or export is missing or different.
        reason: String,
    },
    /// This machine cannot run WebAssembly.
    #[error("failed to prepare WebAssembly on this machine: {0}")]
    Unavailable(String),
}

impl Component {
    /// The contract that this runner hosts.
    pub const CONTRACT: &str = "outwatch:monitor@0.1.0";

    /// The component that this runner was built with. Compiled once per process.
    ///
    /// # Errors
    /// When this machine cannot run WebAssembly.
    pub fn embedded() -> Result<Self, LoadError> {
        Self::embedded_with(None)
    }

    pub(super) fn embedded_with(code: Option<&CodeCache>) -> Result<Self, LoadError> {
        static COMPILED: OnceLock<Component> = OnceLock::new();
        if let Some(component) = COMPILED.get() {
            return Ok(component.clone());
        }
        let component = Self::load(EMBEDDED, "the embedded component", code)?;
        Ok(COMPILED.get_or_init(|| component).clone())
    }

    /// The bytes of [`embedded`](Self::embedded).
    pub fn embedded_bytes() -> &'static [u8] {
        EMBEDDED
    }

    /// Reads and compiles a component's file.
    ///
    /// # Errors
    /// When it cannot be read, is no component, or does not fit the contract.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Self::from_file_with(path.as_ref(), None)
    }

    pub(super) fn from_file_with(path: &Path, code: Option<&CodeCache>) -> Result<Self, LoadError> {
        let bytes = std::fs::read(path).map_err(|source| LoadError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::load(&bytes, &path.display().to_string(), code)
    }

    /// Compiles a component.
    ///
    /// # Errors
    /// When it is no component or does not fit the contract.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::from_bytes_with(bytes, None)
    }

    pub(super) fn from_bytes_with(
        bytes: &[u8],
        code: Option<&CodeCache>,
    ) -> Result<Self, LoadError> {
        Self::load(bytes, "the given component", code)
    }

    fn load(bytes: &[u8], origin: &str, code: Option<&CodeCache>) -> Result<Self, LoadError> {
        let engine = engine()?;
        let origin = origin.to_owned();
        let compiled = match code {
            Some(cache) => cache.code(engine, bytes),
            None => compile(engine, bytes),
        };
        let component = match compiled {
            Ok(component) => component,
            Err(error) => {
                return Err(LoadError::NotAComponent {
                    origin,
                    reason: format!("{error:#}"),
                });
            }
        };
        match track::fit(engine, &component) {
            Ok(fitted) => Ok(Self {
                inner: Arc::new(Loaded {
                    fitted,
                    origin,
                    sha256: format!("{:x}", Sha256::digest(bytes)),
                }),
            }),
            Err(Misfit::Unknown(what)) => Err(LoadError::NotHosted { origin, what }),
            Err(Misfit::Different(reason)) => Err(LoadError::DoesNotFit { origin, reason }),
        }
    }

    /// The SHA-256 of its bytes, in hexadecimal: what tells it from other components.
    pub fn sha256(&self) -> &str {
        &self.inner.sha256
    }

    pub(crate) fn fitted(&self) -> &dyn Fitted {
        &*self.inner.fitted
    }
}

/// Where it is from, and the beginning of its SHA-256.
impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loaded { origin, sha256, .. } = &*self.inner;
        write!(f, "{origin} ({sha256:.12})")
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Component")
            .field(&self.inner.origin)
            .finish()
    }
}

/// Compiles in threads that end with it: what they need goes back to the system, and no
/// process keeps them for a thing it does once.
pub(super) fn compile(engine: &Engine, bytes: &[u8]) -> wasmtime::Result<Wasm> {
    match rayon::ThreadPoolBuilder::new().build() {
        Ok(threads) => threads.install(|| Wasm::from_binary(engine, bytes)),
        // No more threads can be had: as wasmtime does it by itself.
        Err(_) => Wasm::from_binary(engine, bytes),
    }
}

/// The process's one wasmtime engine.
fn engine() -> Result<&'static Engine, LoadError> {
    static ENGINE: OnceLock<Result<Engine, String>> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| {
        let mut config = Config::new();
        config.epoch_interruption(true);
        Engine::new(&config).map_err(|error| format!("{error:#}"))
    });
    engine
        .as_ref()
        .map_err(|reason| LoadError::Unavailable(reason.clone()))
}
