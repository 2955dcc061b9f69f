//! A monitor without a compiler, from code that was compiled elsewhere. It must not know how
//! that came to be.

use outwatch::{Component, Monitor, State};
use outwatch_minimal::FetchingCore;

/// Where `cargo xtask minimal` has put the code.
const CODE: &str = "OUTWATCH_PRECOMPILED";

#[tokio::test]
async fn precompiled_code_monitors_where_nothing_can_be_compiled() {
    let path = std::env::var_os(CODE).expect("`cargo xtask minimal` runs this test");
    #[allow(
        unsafe_code,
        reason = "the code was compiled a moment ago, for this test"
    )]
    // SAFETY: as the reason says.
    let component = unsafe { Component::from_precompiled_file(path) };
    let builder = Monitor::builder(FetchingCore)
        .component(component.expect("code for this machine"))
        .options(r#"{"ip_lookup":false}"#);
    let monitor = builder.start().await.expect("a monitor");
    let report = monitor.test("near").await.expect("a report");
    assert_eq!((report.state, report.delay_ms), (State::Ok, Some(20)));
    monitor.stop().await.expect("an end");
}

#[tokio::test]
async fn without_a_component_it_says_what_is_missing() {
    let refused = Monitor::builder(FetchingCore).start().await;
    let error = refused.err().map(|error| error.to_string());
    assert!(
        error
            .as_ref()
            .is_some_and(|text| text.contains("feature `embedded`")),
        "{error:?}"
    );
}
