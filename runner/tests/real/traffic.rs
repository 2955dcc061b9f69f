//! Users' connections through the real binary: an inbound, a balancer over real
//! shadowsocks servers, and what happens when the current one's server dies.

use std::collections::{BTreeMap, BTreeSet};

use outwatch_tests::peers::{Nginx, SingBox};
use serde_json::{Value, json};

use crate::process::{Running, Scene};
use crate::visit::{inbound_port, shadowsocks, status};

/// Two servers, each in a process of its own, behind a balancer and a mixed inbound.
struct World {
    web: Nginx,
    servers: BTreeMap<&'static str, SingBox>,
    scene: Scene,
}

impl World {
    fn new() -> Self {
        let web = Nginx::plain();
        let servers = BTreeMap::from(["one", "two"].map(|tag| (tag, shadowsocks())));
        let config = json!({
            "inbounds": [{
                "type": "mixed", "tag": "in", "listen_port": 0,
                "users": [{ "username": "ann", "password": "secret" }],
            }],
            "outbounds": [
                { "type": "balancer", "tag": "auto", "outbounds": ["one", "two"], "tolerance": 60_000 },
                servers["one"].outbound(0, "one"),
                servers["two"].outbound(0, "two"),
            ],
            "route": { "final": "auto" },
            "experimental": { "monitoring": {
                "urls": [web.url("/generate_204")], "ip_lookup": false, "interval": "1h",
                "debounce_window": "10ms",
            } },
        });
        Self {
            web,
            servers,
            scene: Scene::new(&config),
        }
    }

    /// The status of the site, asked for through the inbound.
    fn status(&self, scheme: &str, port: &str) -> String {
        let proxy = format!("{scheme}://ann:secret@127.0.0.1:{port}");
        status(&proxy, &self.web.url("/generate_204"))
    }
}

/// Waits until both members work; gives the one that the group leads to, which is the
/// first that worked, and the other.
fn lead(running: &mut Running) -> (&'static str, &'static str) {
    let mut working = BTreeSet::new();
    running.until_report("the success of both members", |report| {
        let tag = report["tag"].as_str().unwrap_or_default();
        if report["state"] == "ok" && tag != "auto" {
            working.insert(tag.to_owned());
        }
        working.len() == 2
    });
    // From the first decision on that a result led to.
    let decision = running.logged("fastest_ms=");
    if decision.contains("member=\"one\"") {
        ("one", "two")
    } else {
        ("two", "one")
    }
}

fn leads_to(member: &str) -> impl Fn(&Value) -> bool {
    move |report| report["tag"] == "auto" && report["via"] == member && report["state"] == "ok"
}

#[test]
fn g7_when_the_current_members_server_dies_the_next_request_works_and_the_group_moves() {
    let mut world = World::new();
    let mut running = world.scene.run();
    let port = inbound_port(&mut running);
    let (current, other) = lead(&mut running);
    for scheme in ["http", "socks5h"] {
        assert_eq!(world.status(scheme, &port), "204");
    }

    drop(world.servers.remove(current));

    assert_eq!(world.status("http", &port), "204", "through the other one");
    running.until_logged(&format!(
        "event=test tag=\"{current}\" reason=connection-failed"
    ));
    let decision = running.until_logged("LOWEST event=taken");
    let wanted = format!("group=\"auto\" network=tcp reason=current-failed member=\"{other}\"");
    assert!(decision.contains(&wanted), "{decision}");
    running.until_report("where the group leads now", leads_to(other));
    assert_eq!(world.status("socks5h", &port), "204");
    assert_eq!(running.terminate(), Some(0));
}

/// A person who looks on is use enough.
#[test]
fn n1_without_inbounds_it_tests_on_past_the_idle_timeout() {
    let web = Nginx::plain();
    let scene = Scene::new(&json!({
        "outbounds": [{ "type": "direct", "tag": "direct" }],
        "experimental": { "monitoring": {
            "urls": [web.url("/generate_204")], "ip_lookup": false,
            "interval": "500ms", "idle_timeout": "2s",
        } },
    }));
    let mut running = scene.run();
    // Eight intervals take twice the idle timeout.
    for _ in 0..9 {
        running.until_logged("event=cycle_start");
    }
    let logged = running.kill();
    let idle = logged.iter().find(|line| line.contains("event=idle"));
    assert_eq!(idle, None);
}

#[test]
fn g5_where_a_group_leads_is_taken_up_again_by_the_next_run() {
    let mut world = World::new();
    let mut running = world.scene.run();
    let port = inbound_port(&mut running);
    let (current, other) = lead(&mut running);
    drop(world.servers.remove(current));
    assert_eq!(world.status("http", &port), "204");
    running.until_report("where the group leads now", leads_to(other));
    assert_eq!(running.terminate(), Some(0));

    let mut again = world.scene.run();
    let first = again.until_logged("event=test");
    let wanted = format!("tag=\"{other}\" reason=start");
    assert!(first.contains(&wanted), "C-1: {first}");
}
