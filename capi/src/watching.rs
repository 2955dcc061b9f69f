//! What comes back to the host by a callback: the end of a test, and updates. It must not
//! know the driver, nor who shows an update.

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use outwatch::{Report, Scope, TestError, Update};
use serde::Serialize;
use tokio::task::AbortHandle;

use crate::border::{self, Code, Failed, Outcome, c_text};
use crate::monitor::{Monitor, to_json, view_of, with};

/// `outwatch_subscribe`: all outbounds and groups; `tag` is NULL.
pub const OUTWATCH_ALL: u32 = 0;
/// `outwatch_subscribe`: one outbound or group.
pub const OUTWATCH_TAG: u32 = 1;
/// `outwatch_subscribe`: a group and all its members, nested ones too.
pub const OUTWATCH_GROUP: u32 = 2;

/// Gets the end of a test: `OUTWATCH_CODE_OK` and the report as a JSON object, or a code
/// and a message. The text stays until it returns.
pub type Tested =
    Option<unsafe extern "C" fn(context: *mut c_void, code: Code, text: *const c_char)>;

/// Gets an update as a JSON object with `reports`, `removed` (tags that are gone) and
/// `urgent`. The text stays until it returns. NULL comes once, as the last call.
pub type Updated = Option<unsafe extern "C" fn(context: *mut c_void, json: *const c_char)>;

/// Tests an outbound in stages, or every leaf of a group. `tested` is called exactly once,
/// on the library's thread, unless the call itself fails. A report that says `failed` is
/// an answer: its code is `OUTWATCH_CODE_OK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_test(
    monitor: *const Monitor,
    tag: *const c_char,
    tested: Tested,
    context: *mut c_void,
    message: *mut *mut c_char,
) -> Code {
    let ask = |monitor: &Monitor| {
        let call = tested.ok_or_else(|| Failed::argument("`tested` is NULL"))?;
        // SAFETY: C gave it to this call.
        let tag = unsafe { border::text(tag, "tag") }?.to_owned();
        let asked = Asked(Some((call, Context(context))));
        let inner = monitor.inner.clone();
        monitor.thread.runtime().spawn(async move {
            let mut asked = asked;
            asked.answer(inner.test(tag).await);
        });
        Ok(())
    };
    // SAFETY: C gave it to this call.
    unsafe { with(monitor, message, ask) }
}

/// Has `updated` called for every update from now on, beginning with the current state of
/// all in `scope`. One who is slow misses states in between, never the last.
///
/// It ends by `outwatch_unsubscribe` or with the monitor. **The last call has NULL; after
/// it `context` is not used any more.** `subscription`, if not NULL, gets its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_subscribe(
    monitor: *const Monitor,
    scope: u32,
    tag: *const c_char,
    view: u32,
    updated: Updated,
    context: *mut c_void,
    subscription: *mut u64,
    message: *mut *mut c_char,
) -> Code {
    let watch = |monitor: &Monitor| {
        let call = updated.ok_or_else(|| Failed::argument("`updated` is NULL"))?;
        // SAFETY: C gave it to this call.
        let scope = unsafe { scope_of(scope, tag) }?;
        let mut updates = monitor.inner.subscribe(scope, view_of(view)?);
        let watcher = Watcher {
            call,
            context: Context(context),
        };
        let task = monitor.thread.runtime().spawn(async move {
            let watcher = watcher;
            while let Some(update) = updates.next().await {
                watcher.update(&update);
            }
        });
        let id = monitor.subscriptions.add(task.abort_handle());
        // SAFETY: C gave it to this call.
        unsafe { border::put(subscription, id) };
        Ok(())
    };
    // SAFETY: C gave it to this call.
    unsafe { with(monitor, message, watch) }
}

/// Ends a subscription. One call that runs already, and the one with NULL, may still come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_unsubscribe(monitor: *const Monitor, subscription: u64) -> Code {
    let end = |monitor: &Monitor| monitor.subscriptions.end(subscription);
    // SAFETY: C gave it to this call.
    unsafe { with(monitor, std::ptr::null_mut(), end) }
}

/// What the host wants back with its call.
struct Context(*mut c_void);

// SAFETY: the interface tells the host that its context is used on the library's thread.
unsafe impl Send for Context {}
// SAFETY: as above; it is only handed on.
unsafe impl Sync for Context {}

/// One who asked for a test. Whatever becomes of that, it is answered.
struct Asked(
    Option<(
        unsafe extern "C" fn(*mut c_void, Code, *const c_char),
        Context,
    )>,
);

impl Asked {
    fn answer(&mut self, result: Result<Report, TestError>) {
        let Some((call, context)) = self.0.take() else {
            return;
        };
        let (code, text) = match result {
            Ok(report) => match to_json(&report) {
                Ok(json) => (Code::Ok, json),
                Err(failed) => (failed.code, failed.text),
            },
            Err(error) => (code_of(&error), error.to_string()),
        };
        let text = c_text(text);
        // SAFETY: the host said that it can be called so.
        unsafe { call(context.0, code, text.as_ptr()) };
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.answer(Err(TestError::Stopped));
    }
}

fn code_of(error: &TestError) -> Code {
    match error {
        TestError::UnknownTag => Code::UnknownTag,
        TestError::Untestable => Code::Untestable,
        TestError::NotReady(_) => Code::NotReady,
        _ => Code::Stopped,
    }
}

/// One who gets updates until it is dropped, which is the last it hears.
struct Watcher {
    call: unsafe extern "C" fn(*mut c_void, *const c_char),
    context: Context,
}

/// An update as it is written.
#[derive(Serialize)]
struct Written<'a> {
    reports: &'a [Report],
    removed: &'a [String],
    urgent: bool,
}

impl Watcher {
    fn update(&self, update: &Update) {
        let written = to_json(&Written {
            reports: &update.reports,
            removed: &update.removed,
            urgent: update.urgent,
        });
        match written {
            Ok(json) => {
                let json = c_text(json);
                // SAFETY: the host said that it can be called so.
                unsafe { (self.call)(self.context.0, json.as_ptr()) };
            }
            Err(failed) => tracing::error!("an update cannot be written: {}", failed.text),
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // SAFETY: the host said that it can be called so.
        unsafe { (self.call)(self.context.0, std::ptr::null()) };
    }
}

/// The subscriptions of one monitor, by number.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    last: AtomicU64,
    open: Mutex<HashMap<u64, AbortHandle>>,
}

impl Subscriptions {
    fn add(&self, task: AbortHandle) -> u64 {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, task| !task.is_finished());
        open.insert(id, task);
        id
    }

    fn end(&self, id: u64) -> Outcome {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let task = open.remove(&id);
        task.ok_or_else(|| Failed::argument("there is no such subscription"))?
            .abort();
        Ok(())
    }
}

unsafe fn scope_of(scope: u32, tag: *const c_char) -> Outcome<Scope> {
    // SAFETY: the caller passes on what C gave.
    let tag = || unsafe { border::text(tag, "tag") }.map(str::to_owned);
    match scope {
        OUTWATCH_ALL => Ok(Scope::All),
        OUTWATCH_TAG => Ok(Scope::Tag(tag()?)),
        OUTWATCH_GROUP => Ok(Scope::Group(tag()?)),
        other => Err(Failed::argument(format!("`scope` is {other}"))),
    }
}
