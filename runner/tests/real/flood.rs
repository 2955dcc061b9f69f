//! An engine that floods the log of the real binary.

use outwatch_tests::engines::GUEST;
use serde_json::json;

use crate::process::Scene;

#[test]
fn a_log_that_is_flooded_is_cut_and_that_is_said_once() {
    let tag = "guest: floods the log";
    let scene = Scene::new(&json!({ "outbounds": [{ "type": "direct", "tag": tag }] }));
    scene.has_file("engine.wasm", GUEST);
    let mut running = scene.run_with(&["--component", "engine.wasm"]);
    let said = "the component floods the log; lines are dropped";
    running.until_logged(said);
    let logged = running.terminated();
    let count = |words: &str| logged.iter().filter(|line| line.contains(words)).count();
    assert_eq!((count(" line "), count(said)), (100_000, 1));
}
