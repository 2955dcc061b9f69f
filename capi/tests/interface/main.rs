//! What the header promises, held to by calls as C makes them. It must not know how the
//! library works inside.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod scene;

use std::ffi::{CString, c_char, c_void};

use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd as _, IntoRawFd as _};
use std::ptr::{null, null_mut};
use std::thread;

use outwatch_c::*;

use scene::*;

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
    let code = unsafe { outwatch_measurements(monitor, c"b".as_ptr(), place, null_mut()) };
    assert_eq!((code, taken(json).as_str()), (Code::Ok, "[]"));
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
