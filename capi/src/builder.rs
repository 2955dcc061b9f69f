//! Describing a monitor and starting it. It must not know what a monitor does.

use std::ffi::c_char;
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

use outwatch::{Problem, StartError};

use crate::border::{self, Code, Failed, Outcome, told};
use crate::core::Core;
use crate::engine::Engine;
use crate::host::HostCore;
use crate::monitor::Monitor;
use crate::thread::Thread;

/// Describes a monitor before it starts.
#[derive(Debug)]
pub struct Builder {
    core: Arc<HostCore>,
    options: String,
    cache_file: Option<PathBuf>,
    component: Engine,
    code_folder: Option<PathBuf>,
    paused: bool,
    /// The first thing that was wrong; the start says so.
    wrong: Option<Failed>,
}

/// Begins to describe a monitor over a core, which is copied. NULL gives NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_new(core: *const Core) -> *mut Builder {
    // SAFETY: C gave it to this call.
    let Ok(core) = (unsafe { border::thing(core, "core") }) else {
        return ptr::null_mut();
    };
    Box::into_raw(Box::new(Builder {
        core: Arc::new(HostCore::new(*core)),
        options: String::new(),
        cache_file: None,
        component: Engine::Embedded,
        code_folder: None,
        paused: false,
        wrong: None,
    }))
}

/// The text of a config's `experimental.monitoring` block, JSON. Without it all defaults
/// hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_options(builder: *mut Builder, json: *const c_char) {
    let set = |builder: &mut Builder| {
        // SAFETY: C gave it to this call.
        builder.options = unsafe { border::text(json, "json") }?.to_owned();
        Ok(())
    };
    // SAFETY: as above.
    unsafe { describe(builder, set) }
}

/// Where results are kept between runs. Without it they are forgotten. One process at a
/// time can use a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_cache_file(builder: *mut Builder, path: *const c_char) {
    let set = |builder: &mut Builder| {
        // SAFETY: C gave it to this call.
        builder.cache_file = Some(unsafe { border::text(path, "path") }?.into());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { describe(builder, set) }
}

/// A component to run instead of the one that is built in: a `.wasm` file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_component_file(
    builder: *mut Builder,
    path: *const c_char,
) {
    let set = |builder: &mut Builder| {
        // SAFETY: C gave it to this call.
        builder.component = Engine::File(unsafe { border::text(path, "path") }?.into());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { describe(builder, set) }
}

/// The same from memory; the bytes are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_component(
    builder: *mut Builder,
    bytes: *const u8,
    length: usize,
) {
    let set = |builder: &mut Builder| {
        // SAFETY: C gave it to this call.
        let bytes = unsafe { border::array(bytes, length, "bytes") }?;
        builder.component = Engine::Bytes(bytes.to_vec());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { describe(builder, set) }
}

/// Code that `outwatch component --precompile` made of a component, for this version of the
/// library: it is run as it is, and needs no compiler. The file must not change while the
/// monitor lives.
///
/// **It is machine code, and is trusted as the library itself is**: it must come with the
/// app, from where nobody else can write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_precompiled_file(
    builder: *mut Builder,
    path: *const c_char,
) {
    let set = |builder: &mut Builder| {
        // SAFETY: C gave it to this call.
        builder.component = Engine::PrecompiledFile(unsafe { border::text(path, "path") }?.into());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { describe(builder, set) }
}

/// The same from memory; the bytes are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_precompiled(
    builder: *mut Builder,
    bytes: *const u8,
    length: usize,
) {
    let set = |builder: &mut Builder| {
        // SAFETY: C gave it to this call.
        let bytes = unsafe { border::array(bytes, length, "bytes") }?;
        builder.component = Engine::Precompiled(bytes.to_vec());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { describe(builder, set) }
}

/// A folder for compiled code, so that only the first start compiles the component. Nobody
/// but this user may be able to write there; otherwise it is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_code_folder(builder: *mut Builder, path: *const c_char) {
    let set = |builder: &mut Builder| {
        // SAFETY: C gave it to this call.
        builder.code_folder = Some(unsafe { border::text(path, "path") }?.into());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { describe(builder, set) }
}

/// Starts as if `outwatch_pause` had been called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_paused(builder: *mut Builder) {
    let set = |builder: &mut Builder| {
        builder.paused = true;
        Ok(())
    };
    // SAFETY: C gave it to this call.
    unsafe { describe(builder, set) }
}

/// Frees what is not to be started; `released` is called within. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_builder_free(builder: *mut Builder) {
    // SAFETY: C gave it to this call.
    drop(unsafe { take(builder) });
}

/// Starts the monitor on a thread of its own, and waits until it runs. The builder is
/// freed, whatever comes of it. `monitor` gets the handle, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_start(
    builder: *mut Builder,
    monitor: *mut *mut Monitor,
    message: *mut *mut c_char,
) -> Code {
    // SAFETY: C gave it to this call.
    let builder = unsafe { take(builder) };
    let mut started = ptr::null_mut();
    let start = || {
        let builder = builder.ok_or_else(|| Failed::argument("`builder` is NULL"))?;
        if monitor.is_null() {
            return Err(Failed::argument("`monitor` is NULL"));
        }
        let core = builder.core.clone();
        let (thread, inner) = Thread::start(move || builder.start(), core)?;
        started = Box::into_raw(Box::new(Monitor::new(thread, inner)));
        Ok(())
    };
    // SAFETY: C gave it to this call.
    let code = unsafe { border::cross(message, start) };
    // SAFETY: as above.
    unsafe { border::put(monitor, started) };
    code
}

/// Notes one more thing about a monitor.
unsafe fn describe(builder: *mut Builder, set: impl FnOnce(&mut Builder) -> Outcome) {
    // SAFETY: the caller passes on what C gave: NULL or a builder that nobody else uses.
    if let Some(builder) = unsafe { builder.as_mut() }
        && let Err(wrong) = set(builder)
    {
        builder.wrong.get_or_insert(wrong);
    }
}

unsafe fn take(builder: *mut Builder) -> Option<Box<Builder>> {
    // SAFETY: the caller passes on what C gave: it came from `outwatch_builder_new` and was
    // neither started nor freed.
    (!builder.is_null()).then(|| unsafe { Box::from_raw(builder) })
}

impl Builder {
    async fn start(self: Box<Self>) -> Outcome<outwatch::Monitor> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        self.core.check()?;
        let mut builder = outwatch::Monitor::builder(self.core)
            .options(self.options)
            .component(self.component.load(self.code_folder.as_deref())?);
        if let Some(path) = self.cache_file {
            builder = cached(builder, path)?;
        }
        if self.paused {
            builder = builder.paused();
        }
        let monitor = builder.start().await.map_err(|error| refused(&error))?;
        for doubt in monitor.warnings() {
            tracing::warn!("{}", line_of(doubt));
        }
        Ok(monitor)
    }
}

#[cfg(feature = "file-cache")]
fn cached(builder: outwatch::Builder, path: PathBuf) -> Outcome<outwatch::Builder> {
    let cache = outwatch::FileCache::open(path);
    let cache = cache.map_err(|error| Failed::new(Code::BadCache, told(&error)))?;
    if let Some(warning) = cache.opened().warning() {
        tracing::warn!("{warning}");
    }
    Ok(builder.cache(cache))
}

#[cfg(not(feature = "file-cache"))]
fn cached(_: outwatch::Builder, _: PathBuf) -> Outcome<outwatch::Builder> {
    Err(Failed::not_built("file-cache"))
}

fn refused(error: &StartError) -> Failed {
    match error {
        StartError::Options(problems) => {
            let lines: Vec<_> = problems.iter().map(line_of).collect();
            Failed::new(Code::BadOptions, lines.join("\n"))
        }
        error => Failed::new(Code::BadComponent, told(error)),
    }
}

fn line_of(problem: &Problem) -> String {
    let hint = problem.hint.as_ref();
    let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{}: {}{hint}", problem.path, problem.message)
}
