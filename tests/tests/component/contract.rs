//! What the component is, before it runs.

use outwatch::{Component, LoadError, Severity, StartError};
use outwatch_tests::stub::{Stub, answers};

use super::world::{describe, start};

/// DESIGN section 2: nothing else may be imported, whatever the guest links.
const IMPORTS: [&str; 9] = [
    "outwatch:monitor/cache@0.1.0",
    "outwatch:monitor/log@0.1.0",
    "outwatch:monitor/outbounds@0.1.0",
    "outwatch:monitor/types@0.1.0",
    "wasi:clocks/monotonic-clock@0.3.0",
    "wasi:clocks/system-clock@0.3.0",
    "wasi:clocks/types@0.3.0",
    "wasi:http/types@0.3.0",
    "wasi:random/random@0.3.0",
];

const EXPORTS: [&str; 3] = [
    "outwatch:monitor/control@0.1.0",
    "outwatch:monitor/handover@0.1.0",
    "outwatch:monitor/hooks@0.1.0",
];

fn names() -> (Vec<String>, Vec<String>) {
    let engine = wasmtime::Engine::default();
    let component =
        wasmtime::component::Component::from_binary(&engine, Component::embedded_bytes())
            .expect("a component");
    let ty = component.component_type();
    let mut imports: Vec<_> = ty
        .imports(&engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    let mut exports: Vec<_> = ty
        .exports(&engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    imports.sort();
    exports.sort();
    (imports, exports)
}

#[test]
fn the_component_imports_what_the_contract_says_and_nothing_else() {
    let (imports, exports) = names();
    assert_eq!(imports, IMPORTS);
    assert_eq!(exports, EXPORTS);
}

#[test]
fn the_component_holds_no_path_of_the_machine_that_built_it() {
    let text = String::from_utf8_lossy(Component::embedded_bytes());
    for folder in [env!("CARGO_MANIFEST_DIR"), ".cargo/registry", ".rustup/"] {
        assert!(!text.contains(folder), "{folder} stands in the component");
    }
}

#[test]
fn bytes_that_are_no_component_are_refused_with_their_reason() {
    let error = Component::from_bytes(b"#!/bin/sh\n").unwrap_err();
    assert!(matches!(error, LoadError::NotAComponent { .. }), "{error}");
}

#[test]
fn a_component_that_exports_nothing_is_refused() {
    // The smallest component: a header and nothing.
    let error = Component::from_bytes(b"\0asm\x0d\0\x01\0").unwrap_err();
    assert!(matches!(error, LoadError::NotHosted { .. }), "{error}");
    assert!(error.to_string().contains("it exports nothing"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn f3_wrong_options_start_nothing_and_come_back_with_their_paths() {
    let stub = Stub::with([("a", answers(10))]);
    let options = r#"{"workers": 0, "urls": ["ftp://x.example/"]}"#;
    let error = describe(&stub, options).start().await.unwrap_err();
    let StartError::Options(problems) = error else {
        panic!("{error}")
    };
    let paths: Vec<_> = problems
        .iter()
        .map(|problem| problem.path.as_str())
        .collect();
    assert_eq!(paths, ["workers", "urls[0]"]);
    assert!(
        problems
            .iter()
            .all(|problem| problem.severity == Severity::Error)
    );
    assert!(stub.fetches().is_empty());
}

#[tokio::test(start_paused = true)]
async fn f1_a_retired_option_is_accepted_with_one_warning() {
    let monitor = start(&Stub::default(), r#"{"ipv6_probe": {"any": 1}}"#).await;
    let paths: Vec<_> = monitor
        .warnings()
        .iter()
        .map(|problem| &problem.path)
        .collect();
    assert_eq!(paths, ["ipv6_probe"]);
}

#[tokio::test(start_paused = true)]
async fn f1_the_options_in_force_hold_every_default() {
    let monitor = start(&Stub::default(), r#"{"interval": "90s"}"#).await;
    let options = monitor.options().await.unwrap();
    let options: serde_json::Value = serde_json::from_str(&options).unwrap();
    assert_eq!(options["interval"], "1m30s");
    assert_eq!(options["workers"], 10);
    assert_eq!(
        options["on_demand_timeouts"],
        serde_json::json!(["1s", "3s", "10s"])
    );
}

#[tokio::test(start_paused = true)]
async fn i9_the_hosts_of_the_services_are_told() {
    let monitor = start(&Stub::default(), "").await;
    let hosts = monitor.service_hosts().await;
    for host in ["ipapi.co", "ip-api.com", "api.ip.sb", "cloudflare.com"] {
        assert!(
            hosts.iter().any(|known| known == host),
            "{host} is not in {hosts:?}"
        );
    }
}
