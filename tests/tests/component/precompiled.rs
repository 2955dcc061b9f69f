//! Components compiled beforehand: what can be run of them, and what is refused.

use outwatch::{Component, LoadError, Monitor, State};
use outwatch_tests::stub::{Stub, answers};

#[tokio::test(start_paused = true)]
async fn code_compiled_beforehand_monitors_from_memory_and_from_a_file() {
    let code = Component::precompile(Component::embedded_bytes(), None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.code");
    std::fs::write(&path, &code).unwrap();
    #[allow(unsafe_code, reason = "it was compiled a moment ago")]
    // SAFETY: as the reason says.
    let loaded = unsafe {
        [
            Component::from_precompiled(&code),
            Component::from_precompiled_file(&path),
        ]
    };
    for component in loaded {
        let stub = Stub::with([("a", answers(40))]);
        let builder = Monitor::builder(stub).component(component.unwrap());
        let monitor = builder.start().await.unwrap();
        let report = monitor.test("a").await.unwrap();
        assert_eq!((report.state, report.delay_ms), (State::Ok, Some(40)));
        monitor.stop().await.unwrap();
    }
}

#[test]
fn what_is_no_code_for_this_machine_is_refused_in_words() {
    let wasm = Component::embedded_bytes();
    #[allow(unsafe_code, reason = "none of these is code")]
    // SAFETY: as the reason says.
    let refused = unsafe {
        [
            Component::from_precompiled(wasm),
            Component::from_precompiled(b"no code"),
        ]
    };
    for refused in refused {
        assert!(
            matches!(&refused, Err(LoadError::NotPrecompiled { .. })),
            "{refused:?}"
        );
    }
    #[allow(unsafe_code, reason = "there is no such file")]
    // SAFETY: as the reason says.
    let missing = unsafe { Component::from_precompiled_file("missing.code") };
    assert!(
        matches!(missing, Err(LoadError::Read { .. })),
        "{missing:?}"
    );
}

#[test]
fn a_target_that_cannot_be_compiled_for_is_an_error_and_so_is_what_is_no_component() {
    let foreign = Component::precompile(Component::embedded_bytes(), Some("z80-unknown-none"));
    assert!(
        matches!(foreign, Err(LoadError::Target { .. })),
        "{foreign:?}"
    );
    let nothing = Component::precompile(b"nothing", None);
    assert!(
        matches!(nothing, Err(LoadError::NotAComponent { .. })),
        "{nothing:?}"
    );
}
