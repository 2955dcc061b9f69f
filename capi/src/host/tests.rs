use std::ffi::c_void;
use std::net::TcpStream;
use std::os::fd::IntoRawFd as _;
use std::ptr;
use std::thread;

use outwatch::conformance::{Scene, check};

use super::*;
use crate::border;
use crate::core::outwatch_answer;
use crate::exchange::{outwatch_connected, outwatch_failed};

unsafe extern "C" fn list(_: *mut c_void, answer: *mut Answer) {
    let json = c"[{\"tag\":\"works\",\"type\":\"direct\"},{\"tag\":\"dead\",\"type\":\"direct\"}]";
    // SAFETY: it is the library's.
    unsafe { outwatch_answer(answer, json.as_ptr()) };
}

/// Dials as a host would, on a thread of its own. What goes through `dead` is refused.
unsafe extern "C" fn dial(_: *mut c_void, exchange: u64, dial: *const Dial) {
    // SAFETY: it is the library's.
    let dial = unsafe { &*dial };
    // SAFETY: as above.
    let tag = unsafe { border::text(dial.tag, "tag") }.expect("a tag");
    // SAFETY: as above.
    let host = unsafe { border::text(dial.host, "host") }
        .expect("a host")
        .to_owned();
    let port = dial.port;
    let (kind, text) = match tag {
        "works" => (None, c"nobody listens there"),
        "dead" => (Some(c"dial_refused"), c"it is dead"),
        _ => (Some(c"unsupported"), c"there is no such outbound"),
    };
    thread::spawn(move || {
        let stream = match kind {
            Some(kind) => Err(kind),
            None => TcpStream::connect((host, port)).map_err(|_| c"dial_refused"),
        };
        match stream {
            // SAFETY: the socket is handed over.
            Ok(stream) => unsafe { outwatch_connected(exchange, stream.into_raw_fd()) },
            // SAFETY: both are texts.
            Err(kind) => unsafe { outwatch_failed(exchange, kind.as_ptr(), text.as_ptr()) },
        }
    });
}

#[tokio::test]
async fn a_core_in_c_keeps_what_every_core_promises() {
    let core = HostCore::new(Core {
        context: ptr::null_mut(),
        list: Some(list),
        selected: None,
        status: None,
        dial: Some(dial),
        fetch: None,
        cancel: None,
        released: None,
    });
    let broken = check(&core, &Scene::of("works").refusing("dead")).await;
    assert!(broken.is_empty(), "{broken:#?}");
}
