//! Compiled code kept in a folder between starts, so that only the first one compiles.
//! It must not know what a component does, nor which contract it has.

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use siphasher::sip::SipHasher13;
use tracing::debug;
use wasmtime::Engine;
use wasmtime::component::Component as Wasm;

use super::code::{compile, load};
use super::component::{Component, LoadError};

/// How many components' code a folder keeps: some versions, each compiled by some
/// versions of this runner.
const KEPT: usize = 8;

/// What a file's name ends with.
const EXTENSION: &str = "code";

/// A folder of compiled code.
///
/// Code is machine code, which nobody but the user may write: a folder or a file that
/// others may write to, or that belongs to somebody else, is not used. Nor is a file that
/// is damaged, cut off, or of another component, machine or version of this runner. What
/// is not used is compiled anew; a folder that cannot be written costs that at each start,
/// and nothing else.
///
/// ```no_run
/// # fn main() -> Result<(), outwatch::LoadError> {
/// let cache = outwatch::CodeCache::in_folder("/home/ann/.cache/app/code");
/// let component = cache.embedded()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CodeCache {
    folder: PathBuf,
}

impl CodeCache {
    /// In this folder, which is made when there is code to keep. It should hold nothing
    /// else.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// As [`Component::embedded`].
    ///
    /// # Errors
    /// As it.
    #[cfg(feature = "embedded")]
    pub fn embedded(&self) -> Result<Component, LoadError> {
        Component::embedded_with(Some(self))
    }

    /// As [`Component::from_file`].
    ///
    /// # Errors
    /// As it.
    pub fn from_file(&self, path: impl AsRef<Path>) -> Result<Component, LoadError> {
        Component::from_file_with(path.as_ref(), Some(self))
    }

    /// As [`Component::from_bytes`].
    ///
    /// # Errors
    /// As it.
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Component, LoadError> {
        Component::from_bytes_with(bytes, Some(self))
    }

    /// The code of a component of that SHA-256: the kept one, or else compiled and kept.
    pub(super) fn code(
        &self,
        engine: &Engine,
        bytes: &[u8],
        sha256: &str,
    ) -> wasmtime::Result<Wasm> {
        let key = key(engine, sha256);
        if let Some(code) = self.kept(engine, &key) {
            return Ok(code);
        }
        let code = compile(engine, bytes)?;
        if let Err(error) = self.keep(&key, &code) {
            let folder = self.folder.display();
            debug!("compiled code is not kept in {folder}: {error:#}");
        }
        // The code in the file can leave memory when it is not used.
        match self.kept(engine, &key) {
            Some(kept) => Ok(kept),
            None => load(engine, &code),
        }
    }

    fn kept(&self, engine: &Engine, key: &str) -> Option<Wasm> {
        if !is_ours_alone(&self.folder) {
            return None;
        }
        let mut files = self.files().into_iter();
        let file = files.find(|file| file.key == key && is_ours_alone(&file.path))?;
        match file.load(engine) {
            Ok(code) => Some(code),
            Err(error) => {
                debug!("{} is compiled anew: {error:#}", file.path.display());
                let _ = fs::remove_file(&file.path);
                None
            }
        }
    }

    fn keep(&self, key: &str, code: &[u8]) -> wasmtime::Result<()> {
        make_folder(&self.folder)?;
        if !is_ours_alone(&self.folder) {
            return Err(wasmtime::Error::msg("others may write there"));
        }
        // A temporary file is readable by its owner alone, and whole when it is renamed.
        let new = tempfile::NamedTempFile::new_in(&self.folder)?;
        fs::write(new.path(), code)?;
        let digest = format!("{:x}", Sha256::digest(code));
        new.persist(self.folder.join(format!("{key}-{digest}.{EXTENSION}")))?;
        let mut files = self.files();
        files.sort_by_key(|file| std::cmp::Reverse(file.written));
        for old in files.iter().skip(KEPT) {
            let _ = fs::remove_file(&old.path);
        }
        Ok(())
    }

    fn files(&self) -> Vec<Kept> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Kept::at(entry.path())).collect()
    }
}

/// A file of code, as its name says: `KEY-DIGEST.code`.
struct Kept {
    path: PathBuf,
    key: String,
    digest: String,
    written: Option<SystemTime>,
}

impl Kept {
    fn at(path: PathBuf) -> Option<Self> {
        if path.extension()? != EXTENSION {
            return None;
        }
        let (key, digest) = path.file_stem()?.to_str()?.rsplit_once('-')?;
        Some(Self {
            key: key.to_owned(),
            digest: digest.to_owned(),
            written: fs::metadata(&path).and_then(|it| it.modified()).ok(),
            path,
        })
    }

    fn load(&self, engine: &Engine) -> wasmtime::Result<Wasm> {
        let mut hash = Sha256::new();
        io::copy(&mut File::open(&self.path)?, &mut hash)?;
        if format!("{:x}", hash.finalize()) != self.digest {
            return Err(wasmtime::Error::msg("it is damaged"));
        }
        #[allow(
            unsafe_code,
            reason = "it is what `serialize` gave, as the digest says, and the user alone may \
                      write it or its folder"
        )]
        unsafe {
            Wasm::deserialize_file(engine, &self.path)
        }
    }
}

/// What the code of a component depends on: its bytes, and how and by what they are
/// compiled. What the code needs of the processor is looked at when it is loaded.
fn key(engine: &Engine, sha256: &str) -> String {
    let mut compiler = SipHasher13::new();
    engine.precompile_compatibility_hash().hash(&mut compiler);
    env!("CARGO_PKG_VERSION").hash(&mut compiler);
    format!("{sha256}-{:016x}", compiler.finish())
}

/// Makes a folder that is the user's alone.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Whether nobody else may write it. Elsewhere than on Unix the folder that it is in sees
/// to that.
fn is_ours_alone(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let user = rustix::process::geteuid().as_raw();
        fs::metadata(path).is_ok_and(|it| it.uid() == user && it.mode() & 0o022 == 0)
    }
    #[cfg(not(unix))]
    path.exists()
}
