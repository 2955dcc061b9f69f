//! The library's log as a host hears it. It must not know what is logged.

use std::ffi::{c_char, c_void};
use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::border::{self, Code, Failed, c_text};

/// What cannot go on.
pub const OUTWATCH_ERROR: u32 = 1;
/// What is doubtful.
pub const OUTWATCH_WARN: u32 = 2;
/// What happened.
pub const OUTWATCH_INFO: u32 = 3;
/// Why it happened.
pub const OUTWATCH_DEBUG: u32 = 4;

/// Gets one line of the log: its level, its part such as `outwatch::monitoring`, and its
/// text. They stay until it returns. **It is called on any thread of the library, several
/// at a time**, and must call nothing of the library.
pub type Logged = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        level: u32,
        part: *const c_char,
        text: *const c_char,
    ),
>;

/// Has `logged` called for every line of the log of this level and those above, from now
/// until the process ends. It can be set once in a process. `docs/LOG.md` has the lines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_log_to(
    level: u32,
    logged: Logged,
    context: *mut c_void,
    message: *mut *mut c_char,
) -> Code {
    let set = || {
        let call = logged.ok_or_else(|| Failed::argument("`logged` is NULL"))?;
        let level = match level {
            OUTWATCH_ERROR => Level::ERROR,
            OUTWATCH_WARN => Level::WARN,
            OUTWATCH_INFO => Level::INFO,
            OUTWATCH_DEBUG => Level::DEBUG,
            other => return Err(Failed::argument(format!("`level` is {other}"))),
        };
        let log = Log {
            level,
            call,
            context,
        };
        tracing::subscriber::set_global_default(log)
            .map_err(|_| Failed::argument("the log has been set before"))
    };
    // SAFETY: C gave it to this call.
    unsafe { border::cross(message, set) }
}

struct Log {
    level: Level,
    call: unsafe extern "C" fn(*mut c_void, u32, *const c_char, *const c_char),
    context: *mut c_void,
}

// SAFETY: the interface tells the host that its context is used on any thread.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

/// Only events are told; the library has no spans.
impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let ours = metadata.target().starts_with("outwatch");
        ours && metadata.is_event() && metadata.level() <= &self.level
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let part = c_text(event.metadata().target());
        let text = c_text(line.0);
        let level = number(event.metadata().level());
        // SAFETY: the host said that it can be called so.
        unsafe { (self.call)(self.context, level, part.as_ptr(), text.as_ptr()) };
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn number(level: &Level) -> u32 {
    match *level {
        Level::ERROR => OUTWATCH_ERROR,
        Level::WARN => OUTWATCH_WARN,
        Level::INFO => OUTWATCH_INFO,
        _ => OUTWATCH_DEBUG,
    }
}

/// The message of an event, and its fields after it.
#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
