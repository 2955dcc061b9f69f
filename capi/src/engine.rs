//! Which engine runs: a component to compile, or code that was compiled elsewhere. It must
//! not know what an engine does.

use std::path::{Path, PathBuf};

use outwatch::{Component, LoadError};

use crate::border::{Code, Failed, Outcome, told};

/// What a monitor is to run.
#[derive(Debug)]
pub(crate) enum Engine {
    Embedded,
    File(PathBuf),
    Bytes(Vec<u8>),
    PrecompiledFile(PathBuf),
    Precompiled(Vec<u8>),
}

impl Engine {
    /// Loads it; what has to be compiled is kept in `code`, if that is a folder.
    pub(crate) fn load(self, code: Option<&Path>) -> Outcome<Component> {
        match self {
            Self::Embedded => embedded(code),
            Self::File(path) => of_file(&path, code),
            Self::Bytes(bytes) => of_bytes(&bytes, code),
            Self::PrecompiledFile(path) => {
                // SAFETY: the interface tells the host what it takes upon itself.
                usable(unsafe { Component::from_precompiled_file(path) })
            }
            Self::Precompiled(bytes) => {
                // SAFETY: as above.
                usable(unsafe { Component::from_precompiled(&bytes) })
            }
        }
    }
}

fn usable(loaded: Result<Component, LoadError>) -> Outcome<Component> {
    loaded.map_err(|error| Failed::new(Code::BadComponent, told(&error)))
}

#[cfg(feature = "embedded")]
fn embedded(code: Option<&Path>) -> Outcome<Component> {
    usable(match code {
        Some(folder) => outwatch::CodeCache::in_folder(folder).embedded(),
        None => Component::embedded(),
    })
}

#[cfg(not(feature = "embedded"))]
fn embedded(_: Option<&Path>) -> Outcome<Component> {
    Err(Failed::not_built("embedded"))
}

#[cfg(feature = "compiler")]
fn of_file(path: &Path, code: Option<&Path>) -> Outcome<Component> {
    usable(match code {
        Some(folder) => outwatch::CodeCache::in_folder(folder).from_file(path),
        None => Component::from_file(path),
    })
}

#[cfg(feature = "compiler")]
fn of_bytes(bytes: &[u8], code: Option<&Path>) -> Outcome<Component> {
    usable(match code {
        Some(folder) => outwatch::CodeCache::in_folder(folder).from_bytes(bytes),
        None => Component::from_bytes(bytes),
    })
}

#[cfg(not(feature = "compiler"))]
fn of_file(_: &Path, _: Option<&Path>) -> Outcome<Component> {
    Err(Failed::not_built("compiler"))
}

#[cfg(not(feature = "compiler"))]
fn of_bytes(_: &[u8], _: Option<&Path>) -> Outcome<Component> {
    Err(Failed::not_built("compiler"))
}
