//! Loading a component: from the binary, a file or bytes, with a clear error for
//! everything that is not one. It must not run it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "embedded")]
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};
#[cfg(feature = "compiler")]
use wasmtime::Engine;
use wasmtime::component::Component as Wasm;

use super::code::engine;
#[cfg(feature = "compiler")]
use super::code::{compile, config, load};
#[cfg(feature = "compiler")]
use super::code_cache::CodeCache;
use super::track::{self, Fitted, Misfit};

/// The engine that this version of the runner was built with.
#[cfg(feature = "embedded")]
static EMBEDDED: &[u8] = include_bytes!(env!("OUTWATCH_COMPONENT"));

/// The name that an engine's build gives itself.
#[cfg(feature = "compiler")]
const ENGINE: &str = "outwatch-monitor";

/// A component that fits this runner, compiled and ready to start. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    inner: Arc<Loaded>,
}

/// A component that is not compiled yet.
#[cfg(feature = "compiler")]
struct Bytes<'a> {
    bytes: &'a [u8],
    origin: &'a str,
    version: Option<String>,
    sha256: String,
}

#[cfg(feature = "compiler")]
impl<'a> Bytes<'a> {
    fn of(bytes: &'a [u8], origin: &'a str) -> Self {
        Self {
            bytes,
            origin,
            version: Component::version_of(bytes),
            sha256: sha256(bytes),
        }
    }
}

struct Loaded {
    fitted: Box<dyn Fitted>,
    origin: String,
    contract: String,
    version: Option<String>,
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
    /// It is not what [`Component::precompile`] gave, or not for this machine and version.
    #[error("{origin} is no code for this machine and this version of the runner: {reason}")]
    NotPrecompiled {
        /// The file, or how the bytes came.
        origin: String,
        /// What is wrong.
        reason: String,
    },
    /// Nothing can be compiled for this target here.
    #[error(
        "failed to compile for `{target}`, which must have the architecture of {host}: {reason}",
        host = env!("OUTWATCH_TARGET")
    )]
    Target {
        /// As it was given.
        target: String,
        /// What is wrong.
        reason: String,
    },
    /// A monitor was given no component, and none is built in.
    #[error("no component was given, and this runner was built without the feature `embedded`")]
    Missing,
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
    #[cfg(feature = "embedded")]
    pub fn embedded() -> Result<Self, LoadError> {
        Self::embedded_with(None)
    }

    #[cfg(feature = "embedded")]
    pub(super) fn embedded_with(code: Option<&CodeCache>) -> Result<Self, LoadError> {
        static COMPILED: OnceLock<Component> = OnceLock::new();
        if let Some(component) = COMPILED.get() {
            return Ok(component.clone());
        }
        let wasm = Bytes {
            bytes: EMBEDDED,
            origin: "the embedded component",
            // Known from the build, so that a start does not read all of it.
            version: option_env!("OUTWATCH_COMPONENT_VERSION").map(str::to_owned),
            sha256: env!("OUTWATCH_COMPONENT_SHA256").to_owned(),
        };
        let component = Self::compile(wasm, code)?;
        Ok(COMPILED.get_or_init(|| component).clone())
    }

    /// The bytes of [`embedded`](Self::embedded).
    #[cfg(feature = "embedded")]
    pub fn embedded_bytes() -> &'static [u8] {
        EMBEDDED
    }

    /// What runs where nobody chose.
    pub(crate) fn default() -> Result<Self, LoadError> {
        #[cfg(feature = "embedded")]
        return Self::embedded();
        #[cfg(not(feature = "embedded"))]
        Err(LoadError::Missing)
    }

    /// Reads and compiles a component's file.
    ///
    /// # Errors
    /// When it cannot be read, is no component, or does not fit the contract.
    #[cfg(feature = "compiler")]
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Self::from_file_with(path.as_ref(), None)
    }

    #[cfg(feature = "compiler")]
    pub(super) fn from_file_with(path: &Path, code: Option<&CodeCache>) -> Result<Self, LoadError> {
        let bytes = std::fs::read(path).map_err(|source| LoadError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::compile(Bytes::of(&bytes, &path.display().to_string()), code)
    }

    /// Compiles a component.
    ///
    /// # Errors
    /// When it is no component or does not fit the contract.
    #[cfg(feature = "compiler")]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::from_bytes_with(bytes, None)
    }

    #[cfg(feature = "compiler")]
    pub(super) fn from_bytes_with(
        bytes: &[u8],
        code: Option<&CodeCache>,
    ) -> Result<Self, LoadError> {
        Self::compile(Bytes::of(bytes, "the given component"), code)
    }

    #[cfg(feature = "compiler")]
    fn compile(wasm: Bytes<'_>, code: Option<&CodeCache>) -> Result<Self, LoadError> {
        let engine = engine()?;
        let compiled = match code {
            Some(cache) => cache.code(engine, wasm.bytes, &wasm.sha256),
            None => compile(engine, wasm.bytes).and_then(|code| load(engine, &code)),
        };
        let component = compiled.map_err(|error| not_a_component(wasm.origin, &error))?;
        Self::fitting(&component, wasm.origin, wasm.version, wasm.sha256)
    }

    /// Compiles a component for [`from_precompiled`](Self::from_precompiled) of this same
    /// version of the runner, on any machine of a kind: `target` is a triple of this
    /// machine's architecture, such as `aarch64-linux-android`; none stands for the
    /// system that the runner was built for. The code needs nothing that only some
    /// processors of the architecture have.
    ///
    /// # Errors
    /// When it is no component, or the target is none that can be compiled for here.
    #[cfg(feature = "compiler")]
    pub fn precompile(bytes: &[u8], target: Option<&str>) -> Result<Vec<u8>, LoadError> {
        let target = target.unwrap_or(env!("OUTWATCH_TARGET"));
        let mut config = config();
        let config = config.enable_compiler(true).target(target);
        let engine = config.and_then(|config| Engine::new(config));
        let engine = engine.map_err(|error| LoadError::Target {
            target: target.to_owned(),
            reason: format!("{error:#}"),
        })?;
        let code = engine.precompile_component(bytes);
        code.map_err(|error| not_a_component("the given component", &error))
    }

    /// A component that [`precompile`](Self::precompile) compiled elsewhere, from memory.
    /// This needs no compiler.
    ///
    /// # Errors
    /// When it is of another version of the runner, for another machine, or does not fit
    /// the contract.
    ///
    /// # Safety
    /// These are machine code, and only looked at so far as to find that they are meant for
    /// here. They must be what `precompile` gave, unchanged: part of the program itself, or
    /// from a place that is protected as well as the program is.
    #[allow(unsafe_code, reason = "the caller knows where the code comes from")]
    pub unsafe fn from_precompiled(bytes: &[u8]) -> Result<Self, LoadError> {
        // SAFETY: what this function asks of its caller.
        let component = unsafe { Wasm::deserialize(engine()?, bytes) };
        Self::precompiled(component, "the given code", bytes)
    }

    /// The same from a file, which must not change while the component is in use: its code
    /// stays there and is read as it is needed.
    ///
    /// # Errors
    /// As [`from_precompiled`](Self::from_precompiled), and when it cannot be read.
    ///
    /// # Safety
    /// As [`from_precompiled`](Self::from_precompiled).
    #[allow(unsafe_code, reason = "the caller knows where the code comes from")]
    pub unsafe fn from_precompiled_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| LoadError::Read {
            path: path.to_owned(),
            source,
        })?;
        // SAFETY: what this function asks of its caller.
        let component = unsafe { Wasm::deserialize_file(engine()?, path) };
        Self::precompiled(component, &path.display().to_string(), &bytes)
    }

    fn precompiled(
        component: wasmtime::Result<Wasm>,
        origin: &str,
        bytes: &[u8],
    ) -> Result<Self, LoadError> {
        let component = component.map_err(|error| LoadError::NotPrecompiled {
            origin: origin.to_owned(),
            reason: format!("{error:#}"),
        })?;
        Self::fitting(&component, origin, None, sha256(bytes))
    }

    /// `sha256` is of what it was made from.
    fn fitting(
        component: &Wasm,
        origin: &str,
        version: Option<String>,
        sha256: String,
    ) -> Result<Self, LoadError> {
        let origin = origin.to_owned();
        match track::fit(component.engine(), component) {
            Ok((fitted, contract)) => Ok(Self {
                inner: Arc::new(Loaded {
                    fitted,
                    origin,
                    contract,
                    version,
                    sha256,
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

    /// The contract that it was built for, such as `outwatch:monitor@0.1.0`.
    pub fn contract(&self) -> &str {
        &self.inner.contract
    }

    /// The engine's version, as its build wrote it down; none if it did not, for compiled
    /// code, and where nothing is compiled.
    pub fn version(&self) -> Option<&str> {
        self.inner.version.as_deref()
    }

    /// The same of a component's bytes, without compiling them: the engine's build stands as
    /// a tool in the list of those that made it.
    #[cfg(feature = "compiler")]
    pub fn version_of(bytes: &[u8]) -> Option<String> {
        let producers = wasm_metadata::Producers::from_wasm(bytes).ok()??;
        let tools = producers.get("processed-by")?;
        tools.get(ENGINE).cloned()
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

/// As [`Component::sha256`] gives it.
pub(super) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(feature = "compiler")]
fn not_a_component(origin: &str, error: &wasmtime::Error) -> LoadError {
    LoadError::NotAComponent {
        origin: origin.to_owned(),
        reason: format!("{error:#}"),
    }
}
