//! The log as a host in C hears it. It must not know what else is logged.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{from_ref, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use outwatch_c::*;

const PATIENCE: Duration = Duration::from_secs(30);

type Lines = Mutex<Sender<(u32, String, String)>>;

static WRONG: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn logged(
    context: *mut c_void,
    level: u32,
    part: *const c_char,
    text: *const c_char,
) {
    // SAFETY: the test keeps it to its end.
    let lines = unsafe { &*context.cast::<Lines>() };
    // SAFETY: both are the library's.
    let [part, text] = [part, text].map(|text| unsafe { CStr::from_ptr(text) });
    let line = (
        level,
        part.to_string_lossy().into(),
        text.to_string_lossy().into(),
    );
    // The test may be over.
    let _ = lines.lock().map(|lines| lines.send(line));
}

unsafe extern "C" fn list(_: *mut c_void, answer: *mut Answer) {
    let json = match WRONG.load(Ordering::SeqCst) {
        false => c"[]",
        true => c"[{}]",
    };
    // SAFETY: it is the library's.
    unsafe { outwatch_answer(answer, json.as_ptr()) };
}

unsafe extern "C" fn fetch(_: *mut c_void, _: u64, _: *const Request) {}

#[test]
fn a_list_that_turns_wrong_is_an_error_in_the_log_which_is_set_once() {
    let (sender, heard) = channel();
    let lines: Lines = Mutex::new(sender);
    let context = from_ref(&lines).cast_mut().cast();
    let log_to = || {
        // SAFETY: the context lives to the end of the process's one test.
        unsafe { outwatch_log_to(OUTWATCH_WARN, Some(logged), context, null_mut()) }
    };
    assert_eq!(log_to(), Code::Ok);
    assert_eq!(log_to(), Code::BadArgument);

    let core = Core {
        context: null_mut(),
        list: Some(list),
        selected: None,
        status: None,
        dial: None,
        fetch: Some(fetch),
        cancel: None,
        released: None,
    };
    let mut monitor = null_mut();
    // SAFETY: all points to what it should.
    let code = unsafe { outwatch_start(outwatch_builder_new(&core), &raw mut monitor, null_mut()) };
    assert_eq!(code, Code::Ok);
    WRONG.store(true, Ordering::SeqCst);
    // SAFETY: it runs.
    assert_eq!(unsafe { outwatch_outbounds_changed(monitor) }, Code::Ok);
    let (level, part, text) = heard.recv_timeout(PATIENCE).expect("a line");
    assert_eq!((level, part.as_str()), (OUTWATCH_ERROR, "outwatch_c::host"));
    assert!(
        text.starts_with("the list of outbounds is wrong: "),
        "{text}"
    );
    assert!(text.ends_with("; the last one stays"), "{text}");
    // SAFETY: it is freed once.
    unsafe { outwatch_free(monitor) };
}
