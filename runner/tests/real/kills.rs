//! `outwatch run`, killed again and again while it writes.

use outwatch_tests::peers::{Microsocks, Nginx};
use serde_json::{Value, json};

use crate::process::{Scene, complaints};

/// How often it is killed.
const KILLS: usize = 4;

/// How many results there are to write.
const OUTBOUNDS: usize = 30;

#[test]
fn p3_kill_9_during_writes_never_breaks_the_file() {
    let web = Nginx::plain();
    let proxy = Microsocks::start();
    let outbounds: Vec<Value> = (0..OUTBOUNDS)
        .map(|number| proxy.outbound(&format!("node {number}")))
        .collect();
    let scene = Scene::new(&json!({
        "outbounds": outbounds,
        "experimental": { "monitoring": {
            "urls": [web.url("/generate_204")],
            "ip_lookup": false,
            "url_test_timeout": "30s",
            // Cycle upon cycle, each with all results to write at its end.
            "interval": "10ms",
        } },
    }));
    for kill in 1..=KILLS {
        let mut running = scene.run();
        if kill == 1 {
            scene.wait_until_saved(OUTBOUNDS, "delay_ms");
        }
        // The end of a cycle is when results are written.
        for _ in 0..kill {
            running.until_logged("event=cycle_end");
        }
        let logged = running.kill();
        let complaints = complaints(&logged);
        assert!(complaints.is_empty(), "run {kill}: {complaints:#?}");
        // The old ones or the new ones: all of them, either way.
        assert_eq!(scene.saved().len(), OUTBOUNDS, "kill {kill}");
    }
}
