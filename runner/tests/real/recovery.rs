//! What dies and comes back, as users of a balancer through the real binary see it: the
//! group returns by its rules, and does not waver.

use std::time::Duration;

use outwatch_tests::peers::{Nginx, Relay, SingBox, with};
use serde_json::json;

use crate::process::{Running, Scene};
use crate::visit::{inbound_port, shadowsocks, status};

/// How much longer the way to the far server is: beyond what any load adds to the near
/// one, together with [`TOLERANCE_MS`].
const FAR: Duration = Duration::from_secs(1);

/// A tolerance that the far server is beyond.
const TOLERANCE_MS: u64 = 100;

/// A tolerance that it is not beyond.
const WIDE_TOLERANCE_MS: u64 = 60_000;

/// How many cycles nothing may happen in, for a group to be called steady.
const STEADY: usize = 2;

/// A near server, one far away, a balancer over both that is at the near one, and a
/// `mixed` inbound.
struct World {
    web: Nginx,
    near: SingBox,
    _far: (SingBox, Relay),
    running: Running,
    port: String,
    _scene: Scene,
}

impl World {
    fn new(tolerance_ms: u64) -> Self {
        let web = Nginx::plain();
        let (near, far) = (shadowsocks(), shadowsocks());
        let way = Relay::slow(far.port(0), FAR);
        let scene = Scene::new(&json!({
            "inbounds": [{ "type": "mixed", "listen_port": 0 }],
            "outbounds": [
                {
                    "type": "balancer", "tag": "auto", "outbounds": ["near", "far"],
                    "tolerance": tolerance_ms,
                },
                near.outbound(0, "near"),
                with(far.outbound(0, "far"), json!({ "server_port": way.port() })),
            ],
            "route": { "final": "auto" },
            "experimental": { "monitoring": {
                "urls": [web.url("/generate_204")], "ip_lookup": false, "interval": "300ms",
            } },
        }));
        let mut running = scene.run();
        let port = inbound_port(&mut running);
        running.until_report("a success of the far one", |report| {
            report["tag"] == "far" && report["state"] == "ok"
        });
        Self {
            web,
            near,
            _far: (far, way),
            running,
            port,
            _scene: scene,
        }
    }

    /// A user's request through the inbound works.
    fn serves(&self) {
        let proxy = format!("socks5h://127.0.0.1:{}", self.port);
        assert_eq!(status(&proxy, &self.web.url("/generate_204")), "204");
    }

    /// Goes on serving through some cycles.
    fn is_steady(&mut self) {
        for _ in 0..STEADY {
            self.running.until_logged("event=cycle_end");
            self.serves();
        }
    }

    /// Waits until a test of the near server ended so.
    fn near_is(&mut self, state: &str) {
        let words = format!("event=result tag=\"near\" reason=cycle attempts=1 state={state}");
        self.running.until_logged(&words);
    }

    /// The moves of the group in all that was logged: why, and to which member.
    fn moves(self) -> Vec<(String, String)> {
        let logged = self.running.kill();
        let word = |line: &str, key: &str| {
            let (_, value) = line.split_once(key).expect("every line has it");
            let word = value.split(' ').next().unwrap_or_default();
            word.trim_matches('"').to_owned()
        };
        let moves = logged
            .iter()
            .filter(|line| line.contains("LOWEST event=taken group=\"auto\" network=tcp"));
        moves
            .map(|line| (word(line, "reason="), word(line, "member=")))
            .collect()
    }
}

fn moved(moves: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(why, member): &(&str, &str)| ((*why).to_owned(), (*member).to_owned());
    moves.iter().map(owned).collect()
}

#[test]
fn g5_a_server_that_comes_back_is_returned_to_once_for_each_time_it_was_down() {
    let mut world = World::new(TOLERANCE_MS);
    world.serves();
    for _ in 0..2 {
        world.near.goes_down();
        world.serves();
        world.near_is("failed");
        world.serves();

        world.near.comes_back();
        world.near_is("ok");
        world.running.until_logged("LOWEST event=taken");
        world.is_steady();
    }
    let outage = [("current-failed", "far"), ("faster", "near")];
    assert_eq!(world.moves(), moved(&[outage, outage].concat()));
}

#[test]
fn g5_a_server_that_comes_back_and_is_not_faster_by_the_tolerance_is_not_returned_to() {
    let mut world = World::new(WIDE_TOLERANCE_MS);
    world.near.goes_down();
    world.serves();
    world.near_is("failed");

    world.near.comes_back();
    world.near_is("ok");
    world.running.until_logged("reason=within-tolerance");
    world.is_steady();
    assert_eq!(world.moves(), moved(&[("current-failed", "far")]));
}
