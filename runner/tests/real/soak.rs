//! Hours of use in seconds: thousands of connections through the real binary, good and
//! bad, over members that die and come back, by a config that changes. Then it is as it
//! was.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use outwatch_tests::peers::{Lane, Manners, Nginx, Pace, Port, Rude, SingBox, Visitor, socks};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::process::{Running, Scene};
use crate::visit::{inbound_port, shadowsocks};

/// How many rounds, unless the environment says otherwise: `cargo xtask soak`.
const ROUNDS: usize = 24;
const ROUNDS_VARIABLE: &str = "SOAK_ROUNDS";

/// How many connections of each way in a round.
const EACH: usize = 30;

/// How much more memory may be resident in the last third than in the first. It is a
/// kilobyte for each connection in between, and the least buffer of one is larger: what
/// keeps any is seen. In a longer soak the same is far less for each.
const MAY_GROW: usize = 4 * 1024 * 1024;

/// How long what has ended may take to be gone. Threads that may block end after ten
/// seconds without work.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is counted, and how often in a row to meet a moment without a test.
const EVERY: Duration = Duration::from_millis(20);
const LOOKS: usize = 50;

/// What a user does with a connection.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Gets a page.
    Works,
    /// The same over HTTP.
    WorksOverHttp,
    /// Asks for a port that refuses.
    Refused,
    /// Asks for a name that nobody knows.
    UnknownName,
    /// Speaks nothing that an inbound knows.
    Garbage,
    LeavesAtOnce,
    LeavesInTheHandshake,
    /// Closes in the middle of a page, by a reset.
    Resets,
    /// Sends one datagram and is gone.
    Associates,
}

const WAYS: [Way; 9] = [
    Way::Works,
    Way::WorksOverHttp,
    Way::Refused,
    Way::UnknownName,
    Way::Garbage,
    Way::LeavesAtOnce,
    Way::LeavesInTheHandshake,
    Way::Resets,
    Way::Associates,
];

/// Members of every kind behind a balancer, a web server, and the binary in between.
struct World {
    web: Nginx,
    nobody: Port,
    _good: SingBox,
    fickle: Lane,
    _hangs: Rude,
    scene: Scene,
    config: Value,
    running: Running,
    inbound: SocketAddr,
}

/// What a process holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    descriptors: usize,
    threads: usize,
}

impl World {
    fn new() -> Self {
        let (web, good, nobody) = (Nginx::plain(), shadowsocks(), Port::reserve());
        let fickle = Lane::start("fickle", Pace::After(Duration::ZERO));
        let hangs = Rude::start(Manners::Hangs);
        let config = json!({
            "inbounds": [{ "type": "mixed", "listen_port": 0 }],
            "outbounds": [
                {
                    "type": "balancer", "tag": "auto", "strategy": "round-robin",
                    "outbounds": ["good", "dead", "best"], "delay_acceptable_ratio": 1000,
                },
                { "type": "urltest", "tag": "best", "outbounds": ["fickle", "hangs"] },
                good.outbound(0, "good"),
                socks("fickle", fickle.port()),
                socks("hangs", hangs.port()),
                socks("dead", nobody.number()),
            ],
            "route": { "final": "auto" },
            "experimental": { "monitoring": {
                "urls": [web.url("/generate_204")], "ip_lookup": false,
                "interval": "500ms", "url_test_timeout": "300ms",
            } },
        });
        let scene = Scene::new(&config);
        let mut running = scene.run();
        let port = inbound_port(&mut running).parse().expect("a port");
        running.until_logged("event=cycle_end");
        Self {
            web,
            nobody,
            _good: good,
            fickle,
            _hangs: hangs,
            scene,
            config,
            running,
            inbound: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        }
    }

    /// Connections of all ways at once, to their ends.
    fn round(&self, runtime: &Runtime) {
        let (inbound, page, nobody) = (self.inbound, self.web.port(0), self.nobody.number());
        runtime.block_on(async {
            let mut crowd = JoinSet::new();
            for way in WAYS.iter().flat_map(|way| [*way; EACH]) {
                crowd.spawn(visit(inbound, way, page, nobody));
            }
            while let Some(ended) = crowd.join_next().await {
                ended.expect("what works goes on working");
            }
        });
    }

    /// The config gets one outbound and one inbound more, or loses them again.
    fn changes(&mut self, more: bool) {
        let mut config = self.config.clone();
        if more {
            let additions = [
                ("outbounds", socks("more", self.nobody.number())),
                ("inbounds", json!({ "type": "socks", "listen_port": 0 })),
            ];
            for (list, addition) in additions {
                config[list].as_array_mut().expect("a list").push(addition);
            }
        }
        self.scene.has_config(&config.to_string());
        self.running.signal("HUP");
        self.running.until_logged("the config was read again");
    }

    /// The least that is seen at several looks: between two tests.
    fn held(&self) -> Held {
        let looks = (0..LOOKS).map(|_| {
            thread::sleep(EVERY);
            self.held_now()
        });
        let least = looks.reduce(|one, other| Held {
            descriptors: one.descriptors.min(other.descriptors),
            threads: one.threads.min(other.threads),
        });
        least.expect("several looks")
    }

    fn held_now(&self) -> Held {
        let count = |what: &str| {
            let folder = fs::read_dir(format!("/proc/{}/{what}", self.running.id()));
            folder.expect("a running process").count()
        };
        Held {
            descriptors: count("fd"),
            threads: count("task"),
        }
    }

    /// Fails unless it soon holds no more than that.
    fn comes_back_to(&self, before: Held) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = self.held_now();
            if now.descriptors <= before.descriptors && now.threads <= before.threads {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "before {before:?}, after {now:?}"
            );
            thread::sleep(EVERY);
        }
    }

    /// In bytes.
    fn resident(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.running.id()));
        let status = status.expect("a running process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.parse::<usize>().ok())
            .expect("its memory in kB")
            * 1024
    }
}

async fn visit(inbound: SocketAddr, way: Way, page: u16, nobody: u16) {
    let mut visitor = Visitor::new(inbound).await;
    let get = format!("GET /page HTTP/1.1\r\nHost: 127.0.0.1:{page}\r\nConnection: close\r\n\r\n");
    match way {
        Way::Works | Way::Resets => {
            assert_eq!(visitor.socks(page).await, Some(0));
            visitor.sends(get.as_bytes()).await;
            if matches!(way, Way::Resets) {
                let resets = visitor.0.set_zero_linger();
                resets.expect("a socket that may be reset");
                return;
            }
            assert!(visitor.hears(64 * 1024).await.starts_with(b"HTTP/1.1 200"));
        }
        Way::WorksOverHttp => {
            assert!(visitor.connect(page).await.starts_with("HTTP/1.1 200 "));
            visitor.sends(get.as_bytes()).await;
            assert!(visitor.hears(64 * 1024).await.starts_with(b"HTTP/1.1 200"));
        }
        Way::Refused => {
            visitor.socks(nobody).await;
            visitor.sends(get.as_bytes()).await;
            visitor.hears(64 * 1024).await;
        }
        Way::UnknownName => {
            let request = [
                b"\x05\x01\x00\x05\x01\x00\x03\x09",
                &b"no.invalid"[..9],
                b"\x00\x50",
            ];
            visitor.sends(&request.concat()).await;
            visitor.hears(12).await;
            visitor.sends(get.as_bytes()).await;
            visitor.hears(64 * 1024).await;
        }
        Way::Garbage => {
            visitor.sends(b"\x00\x01\x02 nonsense\r\n\r\n").await;
            visitor.hears(64 * 1024).await;
        }
        Way::LeavesAtOnce => {}
        Way::LeavesInTheHandshake => visitor.sends(b"\x05\x01\x00\x05\x01").await,
        Way::Associates => {
            if let Ok(way) = visitor.associate().await {
                way.sends(page, b"is anybody there?").await;
            }
        }
    }
}

fn median(mut figures: Vec<usize>) -> usize {
    figures.sort_unstable();
    figures[figures.len() / 2]
}

#[test]
fn a_soak_of_the_whole_leaves_descriptors_threads_and_memory_where_they_were() {
    let rounds = std::env::var(ROUNDS_VARIABLE).ok();
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse().expect("a number of rounds"));
    assert!(rounds >= 3, "there are three thirds");
    let mut world = World::new();
    let runtime = Runtime::new().expect("a runtime");
    world.round(&runtime);
    let before = world.held();

    let resident: Vec<usize> = (0..rounds)
        .map(|nth| {
            world.fickle.set(match nth % 2 {
                0 => Pace::Dead,
                _ => Pace::After(Duration::ZERO),
            });
            world.changes(nth % 2 == 0);
            world.round(&runtime);
            world.resident()
        })
        .collect();
    world.changes(false);

    world.comes_back_to(before);
    let third = rounds / 3;
    let first = median(resident[..third].to_vec());
    let last = median(resident[rounds - third..].to_vec());
    assert!(
        last < first + MAY_GROW,
        "resident: {first} in the first third, {last} in the last, of {resident:?}"
    );
    assert_eq!(world.running.terminate(), Some(0));
}
