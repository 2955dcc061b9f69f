//! The real binary goes over to another engine while it runs.

use outwatch::Component;
use outwatch_tests::engines::{GUEST, of_version};
use outwatch_tests::peers::Nginx;
use serde_json::json;

use crate::process::{Running, Scene};

const TAKEN: &str = "takes the place of";
const REFUSED: &str = "the engine was not taken up, and the one before goes on";

fn scene(web: &Nginx, doing: &str) -> Scene {
    let scene = Scene::new(&json!({
        "outbounds": [{ "type": "direct", "tag": format!("guest: {doing}") }],
        "experimental": { "monitoring": {
            "urls": [web.url("/generate_204")], "ip_lookup": false, "interval": "1h",
        } },
    }));
    scene.has_file("engine.wasm", Component::embedded_bytes());
    scene
}

fn run(scene: &Scene) -> Running {
    let mut running = scene.run_with(&["--component", "engine.wasm"]);
    running.until_report("a success", |report| report["state"] == "ok");
    running
}

fn count(logged: &[String], words: &str) -> usize {
    logged.iter().filter(|line| line.contains(words)).count()
}

#[test]
fn an_engine_that_is_renamed_into_place_takes_over_and_is_tested_for_nothing() {
    let web = Nginx::plain();
    let scene = scene(&web, "nothing");
    let mut running = run(&scene);
    let later = of_version(Component::embedded_bytes(), "0.1.1");
    scene.has_file("engine.wasm", &later);
    running.until_logged(TAKEN);
    running.until_logged("event=took_over");
    // It has it already.
    running.signal("HUP");
    running.until_logged("the config was read again");
    // Cut off, as by a copy that broke off; and then whole.
    let cut = &Component::embedded_bytes()[..100_000];
    scene.has_file("engine.wasm", cut);
    running.until_logged(REFUSED);
    scene.has_file("engine.wasm", Component::embedded_bytes());
    running.until_logged(TAKEN);
    running.until_logged("event=took_over");
    let logged = running.kill();
    assert_eq!(count(&logged, TAKEN), 2);
    assert_eq!(
        count(&logged, "event=test "),
        1,
        "what it knew it knows still"
    );
}

#[test]
fn one_that_fails_soon_is_replaced_by_the_one_before() {
    let web = Nginx::plain();
    let scene = scene(&web, "traps in run");
    let mut running = run(&scene);
    scene.has_file("engine.wasm", GUEST);
    running.signal("HUP");
    running.until_logged(TAKEN);
    let back = running.until_logged("failed in its first minute");
    assert!(
        back.contains("engine.wasm") && back.contains("is back"),
        "{back}"
    );
    running.until_logged("event=took_over");
    assert_eq!(running.terminate(), Some(0));
    assert_eq!(scene.saved().len(), 1);
}

#[test]
fn one_of_another_contract_is_refused_with_its_name() {
    let web = Nginx::plain();
    let scene = scene(&web, "nothing");
    let mut running = run(&scene);
    scene.has_file("engine.wasm", &of_version(GUEST, "0.9.0"));
    running.signal("HUP");
    let refused = running.until_logged(REFUSED);
    assert!(refused.contains("outwatch:monitor@0.9.0"), "{refused}");
    assert_eq!(running.terminate(), Some(0));
}
