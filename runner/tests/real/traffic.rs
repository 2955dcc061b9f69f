//! Users' connections through the real binary: an inbound, a balancer over real
//! shadowsocks servers, and what happens when the current one's server dies.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use outwatch_tests::peers::{Nginx, SingBox, UdpEcho};
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

/// A way for datagrams through the inbound: its stream, and a socket connected to its relay.
fn associate(port: &str) -> (TcpStream, UdpSocket) {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("an open inbound");
    let within = Some(Duration::from_secs(30));
    stream.set_read_timeout(within).expect("a bound");
    let mut says = |bytes: &[u8], length: usize| {
        stream.write_all(bytes).expect("it is taken");
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer).expect("an answer");
        answer
    };
    assert_eq!(says(&[5, 1, 2], 2), [5, 2]);
    assert_eq!(says(b"\x01\x03ann\x06secret", 2), [1, 0]);
    let reply = says(&[5, 3, 0, 1, 0, 0, 0, 0, 0, 0], 10);
    assert_eq!(reply[..8], [5, 0, 0, 1, 127, 0, 0, 1]);
    let relay = u16::from_be_bytes([reply[8], reply[9]]);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.connect(("127.0.0.1", relay)).expect("a route");
    socket.set_read_timeout(within).expect("a bound");
    (stream, socket)
}

/// Sends a datagram to `echo`.
fn send(socket: &UdpSocket, echo: &UdpEcho, payload: &[u8]) {
    let head = [&[0, 0, 0, 1, 127, 0, 0, 1][..], &echo.port().to_be_bytes()].concat();
    socket.send(&[&head[..], payload].concat()).expect("sent");
}

/// Asks again, as one who gets no answer does, until the association ends: a single
/// datagram, or the word that nobody takes it, may be lost.
fn send_until_the_end(mut stream: &TcpStream, socket: &UdpSocket, echo: &UdpEcho) {
    let pause = Some(Duration::from_millis(250));
    stream.set_read_timeout(pause).expect("a bound");
    for _ in 0..120 {
        send(socket, echo, b"is anybody there?");
        match stream.read(&mut [0; 1]) {
            Ok(length) => return assert_eq!(length, 0, "an end and no word"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
    panic!("the association outlives its server");
}

/// Fails unless it comes back.
fn echoes(socket: &UdpSocket, echo: &UdpEcho, payload: &[u8]) {
    send(socket, echo, payload);
    let mut buffer = [0; 2048];
    let length = socket.recv(&mut buffer).expect("an answer");
    assert_eq!(buffer.get(10..length), Some(payload));
}

#[test]
fn g7_datagrams_go_through_the_group_and_its_other_member_when_a_server_dies() {
    let (mut world, echo) = (World::new(), UdpEcho::start());
    let mut running = world.scene.run();
    let port = inbound_port(&mut running);
    let (current, other) = lead(&mut running);
    let (_stream, socket) = associate(&port);
    echoes(&socket, &echo, b"hello");

    drop(world.servers.remove(current));

    // The way ends once it is known that its server is gone, and its member is tested.
    let (stream, socket) = associate(&port);
    send_until_the_end(&stream, &socket, &echo);
    running.until_logged(&format!(
        "event=test tag=\"{current}\" reason=connection-failed"
    ));
    let decision = running.until_logged("network=udp reason=current-failed");
    assert!(
        decision.contains(&format!("member=\"{other}\"")),
        "{decision}"
    );
    let (_stream, socket) = associate(&port);
    echoes(&socket, &echo, b"again");
    assert_eq!(running.terminate(), Some(0));
}
