//! What the header promises, held to by calls as C makes them. It must not know how the
//! library works inside.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd as _, IntoRawFd as _};
use std::os::unix::net::UnixStream;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use outwatch_c::*;

/// A bound for what takes no time unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came back from the library, in order.
#[derive(Debug, PartialEq)]
enum Heard {
    Asked(u64, String),
    Canceled(u64),
    Tested(Code, String),
    Updated(String),
    LastUpdate,
    Released,
    Of(Code),
}

/// What a host's callbacks know: where to tell, and what to do.
struct Scene {
    say: Mutex<Sender<Heard>>,
    heard: Receiver<Heard>,
    list: CString,
}

impl Scene {
    fn new(list: &str) -> Box<Self> {
        let (say, heard) = channel();
        let say = Mutex::new(say);
        let list = CString::new(list).unwrap();
        Box::new(Self { say, heard, list })
    }

    fn context(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    fn core(&self) -> Core {
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
    fn start(&self, core: &Core, options: &CStr) -> (Code, *mut Monitor, String) {
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

    fn started(&self) -> *mut Monitor {
        let (code, monitor, message) = self.start(&self.core(), OPTIONS);
        assert_eq!((code, message.as_str()), (Code::Ok, ""));
        monitor
    }

    fn test(&self, monitor: *const Monitor, tag: &CStr) {
        let context = self.context();
        // SAFETY: as above.
        let code =
            unsafe { outwatch_test(monitor, tag.as_ptr(), Some(tested), context, null_mut()) };
        assert_eq!(code, Code::Ok);
    }

    fn subscribe(&self, monitor: *const Monitor) -> u64 {
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

    fn next(&self) -> Heard {
        self.heard.recv_timeout(PATIENCE).expect("a call back")
    }

    /// The next that is no update.
    fn next_but_updates(&self) -> Heard {
        loop {
            match self.next() {
                Heard::Updated(_) => {}
                heard => return heard,
            }
        }
    }
}

const ONE: &str = r#"[{ "tag": "a", "type": "stub" }]"#;
const OPTIONS: &CStr =
    c"{\"urls\":[\"http://t.test/\"],\"on_demand_timeouts\":[\"300ms\"],\"ip_lookup\":false}";

fn say(context: *mut c_void, heard: Heard) {
    // SAFETY: a scene outlives its monitor.
    let scene = unsafe { &*context.cast::<Scene>() };
    scene.say.lock().unwrap().send(heard).unwrap();
}

/// A text of the library's, freed.
fn taken(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: it came from the library.
    let owned = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
    // SAFETY: as above.
    unsafe { outwatch_text_free(text) };
    owned
}

fn borrowed(text: *const c_char) -> String {
    // SAFETY: the library gives texts.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

unsafe extern "C" fn list(context: *mut c_void, answer: *mut Answer) {
    // SAFETY: a scene outlives its monitor.
    let scene = unsafe { &*context.cast::<Scene>() };
    // SAFETY: it is the library's.
    unsafe { outwatch_answer(answer, scene.list.as_ptr()) };
}

unsafe extern "C" fn dial(context: *mut c_void, exchange: u64, dial: *const Dial) {
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

unsafe extern "C" fn cancel(context: *mut c_void, exchange: u64) {
    say(context, Heard::Canceled(exchange));
}

unsafe extern "C" fn released(context: *mut c_void) {
    say(context, Heard::Released);
}

unsafe extern "C" fn tested(context: *mut c_void, code: Code, text: *const c_char) {
    say(context, Heard::Tested(code, borrowed(text)));
}

unsafe extern "C" fn updated(context: *mut c_void, json: *const c_char) {
    let heard = if json.is_null() {
        Heard::LastUpdate
    } else {
        Heard::Updated(borrowed(json))
    };
    say(context, heard);
}

/// Hands a socket over.
fn connected(exchange: u64, socket: i32) -> Code {
    // SAFETY: nobody else has it.
    unsafe { outwatch_connected(exchange, socket) }
}

fn unsubscribe(monitor: *const Monitor, subscription: u64) -> Code {
    // SAFETY: the monitor runs.
    unsafe { outwatch_unsubscribe(monitor, subscription) }
}

fn free(monitor: *mut Monitor) {
    // SAFETY: it is freed once.
    unsafe { outwatch_free(monitor) };
}

/// A stream that answers one request with 204, as a socket pair.
fn answering() -> i32 {
    use std::io::{Read as _, Write as _};

    let (ours, mut far) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        let mut request = [0; 1024];
        let _ = far.read(&mut request);
        let _ = far.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
    });
    ours.into_raw_fd()
}

#[test]
fn a_dial_is_answered_by_one_end_of_a_pair_and_only_once() {
    let scene = Scene::new(ONE);
    let monitor = scene.started();
    scene.test(monitor, c"a");
    let Heard::Asked(exchange, to) = scene.next() else {
        panic!("no dial");
    };
    assert_eq!(to, "a t.test:80");
    assert_eq!(connected(exchange, answering()), Code::Ok);
    let Heard::Tested(code, report) = scene.next() else {
        panic!("no report");
    };
    assert_eq!(code, Code::Ok);
    assert!(report.contains(r#""state":"ok""#), "{report}");
    let late = answering();
    assert_eq!(connected(exchange, late), Code::NotWaiting);
    assert_eq!(connected(exchange, -1), Code::BadArgument);
    free(monitor);
    assert_eq!(scene.next(), Heard::Released);
}

#[test]
fn a_failed_dial_shows_its_kind_and_words() {
    let scene = Scene::new(ONE);
    let monitor = scene.started();
    scene.test(monitor, c"a");
    let Heard::Asked(exchange, _) = scene.next() else {
        panic!("no dial");
    };
    // SAFETY: both are texts.
    let code = unsafe {
        outwatch_failed(
            exchange,
            c"proxy_auth".as_ptr(),
            c"it wants a password".as_ptr(),
        )
    };
    assert_eq!(code, Code::Ok);
    let Heard::Tested(Code::Ok, report) = scene.next() else {
        panic!("no report");
    };
    let error = r#""error":{"kind":"proxy_auth","text":"it wants a password"}"#;
    assert!(report.contains(error), "{report}");
    free(monitor);
}

#[test]
fn a_dial_that_is_never_answered_is_canceled_at_its_deadline() {
    let scene = Scene::new(ONE);
    let monitor = scene.started();
    scene.test(monitor, c"a");
    let Heard::Asked(exchange, _) = scene.next() else {
        panic!("no dial");
    };
    assert_eq!(scene.next(), Heard::Canceled(exchange));
    let Heard::Tested(Code::Ok, report) = scene.next() else {
        panic!("no report");
    };
    assert!(report.contains(r#""state":"failed""#), "{report}");
    free(monitor);
}

#[test]
fn a_descriptor_that_is_no_stream_fails_the_dial_and_is_closed() {
    let scene = Scene::new(ONE);
    let monitor = scene.started();
    scene.test(monitor, c"a");
    let Heard::Asked(exchange, _) = scene.next() else {
        panic!("no dial");
    };
    let file = tempfile::tempfile().unwrap();
    let descriptor = file.as_raw_fd();
    assert_eq!(descriptor, file.into_raw_fd());
    assert_eq!(connected(exchange, descriptor), Code::Ok);
    let Heard::Tested(Code::Ok, report) = scene.next() else {
        panic!("no report");
    };
    assert!(report.contains("the socket cannot be used"), "{report}");
    free(monitor);
}

#[test]
fn what_waits_for_the_library_is_refused_within_a_callback_and_hooks_are_not() {
    unsafe extern "C" fn within(context: *mut c_void, _: Code, _: *const c_char) {
        // SAFETY: the test keeps both until this has been heard.
        let (scene, monitor) = unsafe { *context.cast::<(*mut c_void, *const Monitor)>() };
        // SAFETY: as above.
        let told = unsafe { outwatch_activity(monitor) };
        // SAFETY: as above.
        let stopped = unsafe { outwatch_stop(monitor, null_mut()) };
        say(scene, Heard::Of(told));
        say(scene, Heard::Of(stopped));
    }

    let scene = Scene::new(ONE);
    let monitor = scene.started();
    let mut both: (*mut c_void, *const Monitor) = (scene.context(), monitor);
    let context = (&raw mut both).cast();
    // SAFETY: all points to what it should.
    let code =
        unsafe { outwatch_test(monitor, c"none".as_ptr(), Some(within), context, null_mut()) };
    assert_eq!(code, Code::Ok);
    assert_eq!(scene.next(), Heard::Of(Code::Ok));
    assert_eq!(scene.next(), Heard::Of(Code::WouldDeadlock));
    free(monitor);
}

#[test]
fn the_last_update_is_null_after_unsubscribing_and_after_a_stop() {
    let scene = Scene::new(ONE);
    let monitor = scene.started();
    let first = scene.subscribe(monitor);
    assert!(matches!(scene.next(), Heard::Updated(_)));
    assert_eq!(unsubscribe(monitor, first), Code::Ok);
    assert_eq!(scene.next_but_updates(), Heard::LastUpdate);
    assert_eq!(unsubscribe(monitor, first), Code::BadArgument);

    scene.subscribe(monitor);
    // SAFETY: as above.
    assert_eq!(unsafe { outwatch_stop(monitor, null_mut()) }, Code::Ok);
    assert_eq!(scene.next_but_updates(), Heard::LastUpdate);
    free(monitor);
    assert_eq!(scene.next(), Heard::Released);
}

#[test]
fn a_test_that_the_end_overtakes_is_answered_all_the_same() {
    let scene = Scene::new(ONE);
    let monitor = scene.started();
    scene.test(monitor, c"a");
    assert!(matches!(scene.next(), Heard::Asked(..)));
    free(monitor);
    let mut heard: Vec<_> = (0..3).map(|_| scene.next()).collect();
    assert_eq!(heard.pop(), Some(Heard::Released), "the last of all");
    let stopped = |heard: &Heard| matches!(heard, Heard::Tested(Code::Stopped, _));
    assert!(heard.iter().any(stopped), "{heard:?}");
}

#[test]
fn a_stopped_monitor_says_so() {
    let scene = Scene::new(ONE);
    let monitor = scene.started();
    // SAFETY: it runs.
    assert_eq!(unsafe { outwatch_stop(monitor, null_mut()) }, Code::Ok);
    scene.test(monitor, c"a");
    let Heard::Tested(code, text) = scene.next() else {
        panic!("no answer");
    };
    assert_eq!(
        (code, text.as_str()),
        (Code::Stopped, "the monitor was stopped first")
    );
    let mut json = null_mut();
    // SAFETY: all points to what it should.
    let code = unsafe { outwatch_reports(monitor, OUTWATCH_CONFIRMED, &raw mut json, null_mut()) };
    assert_eq!((code, json), (Code::Stopped, null_mut()));
    free(monitor);
}

#[test]
fn a_monitor_can_be_freed_within_a_callback() {
    unsafe extern "C" fn within(context: *mut c_void, _: Code, _: *const c_char) {
        // SAFETY: the test keeps it until all is released.
        free(unsafe { *context.cast::<*mut Monitor>() });
    }

    let scene = Scene::new(ONE);
    let mut monitor = scene.started();
    let (context, tag) = ((&raw mut monitor).cast(), c"none".as_ptr());
    // SAFETY: all points to what it should.
    let code = unsafe { outwatch_test(monitor, tag, Some(within), context, null_mut()) };
    assert_eq!(code, Code::Ok);
    assert_eq!(scene.next(), Heard::Released);
}

#[test]
fn wrong_options_are_refused_with_a_line_for_each() {
    let scene = Scene::new(ONE);
    let options = c"{\"workers\":0,\"urls\":[]}";
    let (code, monitor, message) = scene.start(&scene.core(), options);
    assert_eq!((code, monitor), (Code::BadOptions, null_mut()));
    let lines: Vec<_> = message.lines().collect();
    assert!(
        lines.iter().any(|line| line.starts_with("workers: ")),
        "{message}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with("urls: ")),
        "{message}"
    );
    assert_eq!(scene.next(), Heard::Released);
}

#[test]
fn a_wrong_list_and_a_core_that_cannot_dial_are_refused_at_the_start() {
    let scene = Scene::new(r#"[{ "tag": "a" }]"#);
    let (code, _, message) = scene.start(&scene.core(), OPTIONS);
    assert_eq!(code, Code::BadOutbounds);
    assert!(message.contains("missing field `type`"), "{message}");

    let mut core = scene.core();
    core.dial = None;
    let (code, _, message) = scene.start(&core, OPTIONS);
    assert_eq!(code, Code::BadArgument);
    assert_eq!(message, "`dial` and `fetch` are both NULL");
}

#[test]
fn a_component_that_is_none_is_refused_in_words() {
    let scene = Scene::new(ONE);
    let (mut monitor, mut message) = (null_mut(), null_mut());
    let (core, bytes) = (scene.core(), b"{}");
    // SAFETY: all points to what it should.
    let code = unsafe {
        let builder = outwatch_builder_new(&raw const core);
        outwatch_builder_component(builder, bytes.as_ptr(), bytes.len());
        outwatch_start(builder, &raw mut monitor, &raw mut message)
    };
    assert_eq!(code, Code::BadComponent);
    let message = taken(message);
    assert!(
        message.starts_with("the given component is not a component"),
        "{message}"
    );
}

#[test]
fn one_cache_file_serves_one_monitor_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.redb");
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let scene = Scene::new(ONE);
    let core = scene.core();
    let start = || {
        let mut monitor = null_mut();
        // SAFETY: all points to what it should.
        let code = unsafe {
            let builder = outwatch_builder_new(&raw const core);
            outwatch_builder_cache_file(builder, path.as_ptr());
            outwatch_builder_paused(builder);
            outwatch_start(builder, &raw mut monitor, null_mut())
        };
        (code, monitor)
    };
    let (first, monitor) = start();
    assert_eq!((first, start().0), (Code::Ok, Code::BadCache));
    free(monitor);
    let (again, monitor) = start();
    assert_eq!(again, Code::Ok, "freeing lets the file go");
    free(monitor);
}

#[test]
fn reports_options_and_hosts_are_json_and_an_unknown_tag_has_a_code() {
    let scene = Scene::new(ONE);
    let monitor = scene.started();
    let mut json = null_mut();
    let place = &raw mut json;
    // SAFETY: all points to what it should.
    let code = unsafe { outwatch_reports(monitor, OUTWATCH_CONFIRMED, place, null_mut()) };
    assert_eq!(code, Code::Ok);
    let reports: serde_json::Value = serde_json::from_str(&taken(json)).unwrap();
    assert_eq!(reports[0]["tag"], "a");
    // SAFETY: as above.
    let code = unsafe { outwatch_options(monitor, place, null_mut()) };
    assert_eq!(code, Code::Ok);
    let options: serde_json::Value = serde_json::from_str(&taken(json)).unwrap();
    assert_eq!(options["workers"], 10);
    // SAFETY: as above.
    let code = unsafe { outwatch_service_hosts(monitor, place, null_mut()) };
    assert_eq!(code, Code::Ok);
    assert!(taken(json).contains("\"ipinfo.io\""));
    // SAFETY: as above.
    let code = unsafe {
        outwatch_report(
            monitor,
            c"b".as_ptr(),
            OUTWATCH_CONFIRMED,
            place,
            null_mut(),
        )
    };
    assert_eq!((code, json), (Code::UnknownTag, null_mut()));
    // SAFETY: as above.
    let code = unsafe { outwatch_reports(monitor, 7, place, null_mut()) };
    assert_eq!(code, Code::BadArgument);
    free(monitor);
}

#[test]
fn a_null_handle_is_refused_and_nothing_to_free() {
    // SAFETY: NULL is allowed.
    unsafe {
        assert_eq!(outwatch_activity(null()), Code::BadArgument);
        assert_eq!(outwatch_stop(null(), null_mut()), Code::BadArgument);
        outwatch_builder_options(null_mut(), c"{}".as_ptr());
        outwatch_builder_free(null_mut());
        outwatch_free(null_mut());
        outwatch_text_free(null_mut());
        assert!(outwatch_builder_new(null()).is_null());
    }
}

#[test]
fn a_real_socket_works_as_well_as_a_pair() {
    use std::io::{Read as _, Write as _};

    let scene = Scene::new(ONE);
    let monitor = scene.started();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let _ = stream.read(&mut request);
        stream
            .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            .unwrap();
    });
    scene.test(monitor, c"a");
    let Heard::Asked(exchange, _) = scene.next() else {
        panic!("no dial");
    };
    let code = connected(exchange, stream.into_raw_fd());
    assert_eq!(code, Code::Ok);
    assert!(matches!(scene.next(), Heard::Tested(Code::Ok, _)));
    server.join().unwrap();
    free(monitor);
}
