//! A host as C would write it: its callbacks tell what they are called with. It must not
//! know what is tested.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::fd::IntoRawFd as _;
use std::os::unix::net::UnixStream;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use outwatch_c::*;

/// A bound for what takes no time unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What came back from the library, in order.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Asked(u64, String),
    Canceled(u64),
    Tested(Code, String),
    Updated(String),
    LastUpdate,
    Released,
    Of(Code),
}

/// What a host's callbacks know: where to tell, and what to do.
pub(crate) struct Scene {
    say: Mutex<Sender<Heard>>,
    heard: Receiver<Heard>,
    list: CString,
}

impl Scene {
    pub(crate) fn new(list: &str) -> Box<Self> {
        let (say, heard) = channel();
        let say = Mutex::new(say);
        let list = CString::new(list).unwrap();
        Box::new(Self { say, heard, list })
    }

    pub(crate) fn context(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    pub(crate) fn core(&self) -> Core {
        Core {
            context: self.context(),
            list: Some(list),
            selected: None,
            status: None,
            dial: Some(dial),
            fetch: None,
            cancel: Some(cancel),
            released: Some(released),
        }
    }

    /// Starts a monitor of this core that tests only what is asked for.
    pub(crate) fn start(&self, core: &Core, options: &CStr) -> (Code, *mut Monitor, String) {
        let (mut monitor, mut message) = (null_mut(), null_mut());
        // SAFETY: all points to what it should.
        let code = unsafe {
            let builder = outwatch_builder_new(core);
            outwatch_builder_options(builder, options.as_ptr());
            outwatch_builder_paused(builder);
            outwatch_start(builder, &raw mut monitor, &raw mut message)
        };
        (code, monitor, taken(message))
    }

    pub(crate) fn started(&self) -> *mut Monitor {
        let (code, monitor, message) = self.start(&self.core(), OPTIONS);
        assert_eq!((code, message.as_str()), (Code::Ok, ""));
        monitor
    }

    pub(crate) fn test(&self, monitor: *const Monitor, tag: &CStr) {
        let context = self.context();
        // SAFETY: as above.
        let code =
            unsafe { outwatch_test(monitor, tag.as_ptr(), Some(tested), context, null_mut()) };
        assert_eq!(code, Code::Ok);
    }

    pub(crate) fn subscribe(&self, monitor: *const Monitor) -> u64 {
        let mut id = 0;
        let (all, view) = (OUTWATCH_ALL, OUTWATCH_DISPLAY);
        let (context, place, none) = (self.context(), &raw mut id, null_mut());
        // SAFETY: as above.
        let code = unsafe {
            outwatch_subscribe(
                monitor,
                all,
                null(),
                view,
                Some(updated),
                context,
                place,
                none,
            )
        };
        assert_eq!(code, Code::Ok);
        id
    }

    pub(crate) fn next(&self) -> Heard {
        self.heard.recv_timeout(PATIENCE).expect("a call back")
    }

    /// The next that is no update.
    pub(crate) fn next_but_updates(&self) -> Heard {
        loop {
            match self.next() {
                Heard::Updated(_) => {}
                heard => return heard,
            }
        }
    }
}

pub(crate) const ONE: &str = r#"[{ "tag": "a", "type": "stub" }]"#;
pub(crate) const OPTIONS: &CStr =
    c"{\"urls\":[\"http://t.test/\"],\"on_demand_timeouts\":[\"300ms\"],\"ip_lookup\":false}";

pub(crate) fn say(context: *mut c_void, heard: Heard) {
    // SAFETY: a scene outlives its monitor.
    let scene = unsafe { &*context.cast::<Scene>() };
    scene.say.lock().unwrap().send(heard).unwrap();
}

/// A text of the library's, freed.
pub(crate) fn taken(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: it came from the library.
    let owned = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
    // SAFETY: as above.
    unsafe { outwatch_text_free(text) };
    owned
}

pub(crate) fn borrowed(text: *const c_char) -> String {
    // SAFETY: the library gives texts.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

pub(crate) unsafe extern "C" fn list(context: *mut c_void, answer: *mut Answer) {
    // SAFETY: a scene outlives its monitor.
    let scene = unsafe { &*context.cast::<Scene>() };
    // SAFETY: it is the library's.
    unsafe { outwatch_answer(answer, scene.list.as_ptr()) };
}

pub(crate) unsafe extern "C" fn dial(context: *mut c_void, exchange: u64, dial: *const Dial) {
    // SAFETY: the library gives it.
    let dial = unsafe { &*dial };
    let to = format!(
        "{} {}:{}",
        borrowed(dial.tag),
        borrowed(dial.host),
        dial.port
    );
    say(context, Heard::Asked(exchange, to));
}

pub(crate) unsafe extern "C" fn cancel(context: *mut c_void, exchange: u64) {
    say(context, Heard::Canceled(exchange));
}

pub(crate) unsafe extern "C" fn released(context: *mut c_void) {
    say(context, Heard::Released);
}

pub(crate) unsafe extern "C" fn tested(context: *mut c_void, code: Code, text: *const c_char) {
    say(context, Heard::Tested(code, borrowed(text)));
}

pub(crate) unsafe extern "C" fn updated(context: *mut c_void, json: *const c_char) {
    let heard = if json.is_null() {
        Heard::LastUpdate
    } else {
        Heard::Updated(borrowed(json))
    };
    say(context, heard);
}

/// Hands a socket over.
pub(crate) fn connected(exchange: u64, socket: i32) -> Code {
    // SAFETY: nobody else has it.
    unsafe { outwatch_connected(exchange, socket) }
}

pub(crate) fn unsubscribe(monitor: *const Monitor, subscription: u64) -> Code {
    // SAFETY: the monitor runs.
    unsafe { outwatch_unsubscribe(monitor, subscription) }
}

pub(crate) fn free(monitor: *mut Monitor) {
    // SAFETY: it is freed once.
    unsafe { outwatch_free(monitor) };
}

/// A stream that answers one request with 204, as a socket pair.
pub(crate) fn answering() -> i32 {
    use std::io::{Read as _, Write as _};

    let (ours, mut far) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        let mut request = [0; 1024];
        let _ = far.read(&mut request);
        let _ = far.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
    });
    ours.into_raw_fd()
}
