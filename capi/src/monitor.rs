//! The handle of a running monitor: asking it, telling it, ending it. It must not know how
//! anything comes back to the host.

use std::ffi::c_char;
use std::pin::pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use outwatch::{Fault, View};
use serde::Serialize;

use crate::border::{self, Code, Failed, Outcome, into_c};
use crate::thread::Thread;
use crate::watching::Subscriptions;

/// A running monitor. Its functions may be called on any thread, several at a time.
#[derive(Debug)]
pub struct Monitor {
    pub(crate) inner: outwatch::Monitor,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) thread: Thread,
    /// A call ended in a fault; what it left is not to be relied on.
    broken: AtomicBool,
}

/// The view that groups choose by: the last finished results.
pub const OUTWATCH_CONFIRMED: u32 = 0;
/// The same plus misses and running tests: what people look at.
pub const OUTWATCH_DISPLAY: u32 = 1;

/// `outwatch_connection_failed`: the outbound's or its way's fault.
pub const OUTWATCH_FAULT_OF_OUTBOUND: u32 = 0;
/// `outwatch_connection_failed`: the destination's; ignored.
pub const OUTWATCH_FAULT_OF_DESTINATION: u32 = 1;
/// `outwatch_connection_failed`: the client's, who went away; ignored.
pub const OUTWATCH_FAULT_OF_CLIENT: u32 = 2;

impl Monitor {
    pub(crate) fn new(thread: Thread, inner: outwatch::Monitor) -> Self {
        Self {
            inner,
            subscriptions: Subscriptions::default(),
            thread,
            broken: AtomicBool::new(false),
        }
    }

    /// What the library's own monitor answers; waits for its thread.
    fn wait<F>(&self, ask: impl FnOnce(outwatch::Monitor) -> F) -> Outcome<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.thread.wait(ask(self.inner.clone()))
    }

    /// Whether it has ended, by a stop or by itself.
    fn is_over(&self) -> bool {
        let ended = pin!(self.inner.ended());
        let mut context = Context::from_waker(Waker::noop());
        ended.poll(&mut context).is_ready()
    }
}

/// Does `work` with a monitor of C's.
pub(crate) unsafe fn with(
    monitor: *const Monitor,
    message: *mut *mut c_char,
    work: impl FnOnce(&Monitor) -> Outcome,
) -> Code {
    let whole = || {
        // SAFETY: the caller passes on what C gave.
        let monitor = unsafe { border::thing(monitor, "monitor") }?;
        if monitor.broken.load(Ordering::Relaxed) {
            let text = "there was a fault in the library; the monitor can only be freed";
            return Err(Failed::new(Code::Panicked, text));
        }
        work(monitor)
    };
    // SAFETY: as above.
    let code = unsafe { border::cross(message, whole) };
    if code == Code::Panicked {
        // SAFETY: as above.
        let monitor = unsafe { monitor.as_ref() };
        monitor.inspect(|monitor| monitor.broken.store(true, Ordering::Relaxed));
    }
    code
}

/// All current reports in the order of the config, as a JSON list that the caller frees.
/// Waits for the library's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_reports(
    monitor: *const Monitor,
    view: u32,
    json: *mut *mut c_char,
    message: *mut *mut c_char,
) -> Code {
    let ask = |monitor: &Monitor| {
        let view = view_of(view)?;
        let reports = monitor.wait(|inner| async move { inner.reports(view).await })?;
        to_json(&reports)
    };
    // SAFETY: C gave it to this call.
    unsafe { answered(monitor, json, message, ask) }
}

/// The current report of a tag, as a JSON object that the caller frees. Waits for the
/// library's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_report(
    monitor: *const Monitor,
    tag: *const c_char,
    view: u32,
    json: *mut *mut c_char,
    message: *mut *mut c_char,
) -> Code {
    let ask = |monitor: &Monitor| {
        // SAFETY: C gave it to this call.
        let tag = unsafe { border::text(tag, "tag") }?.to_owned();
        let view = view_of(view)?;
        let report = monitor.wait(|inner| async move { inner.report(tag, view).await })?;
        let unknown = || Failed::new(Code::UnknownTag, "no outbound or group has this tag");
        to_json(&report.ok_or_else(unknown)?)
    };
    // SAFETY: C gave it to this call.
    unsafe { answered(monitor, json, message, ask) }
}

/// The options in force, with all defaults filled in, as JSON that the caller frees. Waits
/// for the library's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_options(
    monitor: *const Monitor,
    json: *mut *mut c_char,
    message: *mut *mut c_char,
) -> Code {
    let ask = |monitor: &Monitor| {
        let options = monitor.wait(|inner| async move { inner.options().await })?;
        options.ok_or_else(Failed::stopped)
    };
    // SAFETY: C gave it to this call.
    unsafe { answered(monitor, json, message, ask) }
}

/// The last measurements of an outbound in this run, at most 32, oldest first, as a JSON
/// list that the caller frees; empty for a group and for an unknown tag. Waits for the
/// library's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_measurements(
    monitor: *const Monitor,
    tag: *const c_char,
    json: *mut *mut c_char,
    message: *mut *mut c_char,
) -> Code {
    let ask = |monitor: &Monitor| {
        // SAFETY: C gave it to this call.
        let tags = vec![unsafe { border::text(tag, "tag") }?.to_owned()];
        let measured = monitor.wait(|inner| async move { inner.measurements(tags).await })?;
        to_json(&measured.concat())
    };
    // SAFETY: C gave it to this call.
    unsafe { answered(monitor, json, message, ask) }
}

/// Host names that the lookups of exits use, as a JSON list that the caller frees, for a
/// host that routes them. Waits for the library's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_service_hosts(
    monitor: *const Monitor,
    json: *mut *mut c_char,
    message: *mut *mut c_char,
) -> Code {
    let ask = |monitor: &Monitor| {
        let hosts = monitor.wait(|inner| async move { inner.service_hosts().await })?;
        to_json(&hosts)
    };
    // SAFETY: C gave it to this call.
    unsafe { answered(monitor, json, message, ask) }
}

/// A user's connection went through the core. **Testing stops when nobody uses the
/// connection: call this for every one.** It is cheap, and may be called in a callback; so
/// may all below but `outwatch_stop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_activity(monitor: *const Monitor) -> Code {
    // SAFETY: C gave it to this call.
    unsafe { tell(monitor, outwatch::Monitor::activity) }
}

/// The host's network changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_network_changed(monitor: *const Monitor) -> Code {
    // SAFETY: C gave it to this call.
    unsafe { tell(monitor, outwatch::Monitor::network_changed) }
}

/// A user's connection through `tag` failed. `group` had chosen it; NULL if none had.
/// `fault` is one of `OUTWATCH_FAULT_OF_...`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_connection_failed(
    monitor: *const Monitor,
    tag: *const c_char,
    group: *const c_char,
    fault: u32,
) -> Code {
    let work = |monitor: &Monitor| {
        // SAFETY: C gave it to this call.
        let tag = unsafe { border::text(tag, "tag") }?;
        // SAFETY: as above.
        let group = unsafe { border::optional_text(group, "group") }?;
        let fault = match fault {
            OUTWATCH_FAULT_OF_OUTBOUND => Fault::Outbound,
            OUTWATCH_FAULT_OF_DESTINATION => Fault::Destination,
            OUTWATCH_FAULT_OF_CLIENT => Fault::Client,
            other => return Err(Failed::argument(format!("`fault` is {other}"))),
        };
        let monitor = &monitor.inner;
        monitor.connection_failed(tag, group.map(str::to_owned), fault);
        Ok(())
    };
    // SAFETY: C gave it to this call.
    unsafe { with(monitor, ptr::null_mut(), work) }
}

/// A group selects another member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_selection_changed(
    monitor: *const Monitor,
    group: *const c_char,
) -> Code {
    // SAFETY: C gave it to this call.
    unsafe { tell_of(monitor, group, outwatch::Monitor::selection_changed) }
}

/// An outbound that was not ready is ready now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_outbound_ready(
    monitor: *const Monitor,
    tag: *const c_char,
) -> Code {
    // SAFETY: C gave it to this call.
    unsafe { tell_of(monitor, tag, outwatch::Monitor::outbound_ready) }
}

/// The core's list of outbounds changed; it is asked for anew.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_outbounds_changed(monitor: *const Monitor) -> Code {
    // SAFETY: C gave it to this call.
    unsafe { tell(monitor, outwatch::Monitor::outbounds_changed) }
}

/// The device goes to sleep: no tests but those asked for, until `outwatch_resume`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_pause(monitor: *const Monitor) -> Code {
    // SAFETY: C gave it to this call.
    unsafe { tell(monitor, outwatch::Monitor::pause) }
}

/// The device woke up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_resume(monitor: *const Monitor) -> Code {
    // SAFETY: C gave it to this call.
    unsafe { tell(monitor, outwatch::Monitor::resume) }
}

/// Ends the monitor and waits until its results are saved. The handle stays: what it is asked
/// from now on it answers with `OUTWATCH_CODE_STOPPED`, and what it is told is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_stop(monitor: *const Monitor, message: *mut *mut c_char) -> Code {
    let stop = |monitor: &Monitor| {
        let ended = monitor.wait(|inner| async move { inner.stop().await })?;
        ended.map_err(|error| Failed::new(Code::GaveUp, error.to_string()))
    };
    // SAFETY: C gave it to this call.
    unsafe { with(monitor, message, stop) }
}

/// Stops the monitor if it runs, and frees it. No callback is called once this returns;
/// only within a callback it returns before that, and `released` comes when all is done.
/// NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_free(monitor: *mut Monitor) {
    let free = || {
        if !monitor.is_null() {
            // SAFETY: by the one rule of the interface, it came from `outwatch_start`, was
            // not freed, and is in no other call.
            drop(unsafe { Box::from_raw(monitor) });
        }
        Ok(())
    };
    // SAFETY: no message is wanted.
    unsafe { border::cross(ptr::null_mut(), free) };
}

/// A view by its number.
pub(crate) fn view_of(view: u32) -> Outcome<View> {
    match view {
        OUTWATCH_CONFIRMED => Ok(View::Confirmed),
        OUTWATCH_DISPLAY => Ok(View::Display),
        other => Err(Failed::argument(format!("`view` is {other}"))),
    }
}

pub(crate) fn to_json(what: &impl Serialize) -> Outcome<String> {
    let text = serde_json::to_string(what);
    text.map_err(|error| Failed::new(Code::Panicked, error.to_string()))
}

/// Tells the monitor something; there is no answer.
unsafe fn tell(monitor: *const Monitor, say: impl FnOnce(&outwatch::Monitor)) -> Code {
    let work = |monitor: &Monitor| {
        say(&monitor.inner);
        Ok(())
    };
    // SAFETY: the caller passes on what C gave.
    unsafe { with(monitor, ptr::null_mut(), work) }
}

/// The same about a tag.
unsafe fn tell_of(
    monitor: *const Monitor,
    tag: *const c_char,
    say: impl FnOnce(&outwatch::Monitor, String),
) -> Code {
    let work = |monitor: &Monitor| {
        // SAFETY: the caller passes on what C gave.
        let tag = unsafe { border::text(tag, "tag") }?;
        say(&monitor.inner, tag.to_owned());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { with(monitor, ptr::null_mut(), work) }
}

/// Asks the monitor for a text.
unsafe fn answered(
    monitor: *const Monitor,
    json: *mut *mut c_char,
    message: *mut *mut c_char,
    ask: impl FnOnce(&Monitor) -> Outcome<String>,
) -> Code {
    let mut text = ptr::null_mut();
    let work = |monitor: &Monitor| {
        if json.is_null() {
            return Err(Failed::argument("`json` is NULL"));
        }
        if monitor.is_over() {
            return Err(Failed::stopped());
        }
        text = into_c(ask(monitor)?);
        Ok(())
    };
    // SAFETY: the caller passes on what C gave.
    let code = unsafe { with(monitor, message, work) };
    // SAFETY: as above.
    unsafe { border::put(json, text) };
    code
}
