//! What a client watches: connections, traffic, memory and log lines, over websockets and in
//! lines.

use std::time::Duration;

use futures::StreamExt as _;
use outwatch_tests::peers::{Curl, Port};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::world::{Api, BERLIN, PICK, SECRET, TOKYO, World, encoded};
use crate::process::Scene;

/// Far beyond what a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often what is told by nobody is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A websocket of one who watches.
struct Watch(WebSocketStream<TcpStream>);

impl Watch {
    async fn open(api: &Api, path: &str) -> Self {
        let stream = TcpStream::connect(&api.address).await.expect("an API");
        let and = if path.contains('?') { '&' } else { '?' };
        let url = format!("ws://{}{path}{and}token={SECRET}", api.address);
        let opened = timeout(PATIENCE, client_async(url, stream)).await;
        Self(opened.expect("in time").expect("a websocket").0)
    }

    async fn next(&mut self) -> Value {
        let message = timeout(PATIENCE, self.0.next()).await.expect("in time");
        let message = message.expect("a message").expect("a message");
        serde_json::from_str(message.to_text().expect("a text")).expect("JSON")
    }

    /// The first message that is as wanted.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = async {
            loop {
                let message = self.next().await;
                if wanted(&message) {
                    return message;
                }
            }
        };
        timeout(PATIENCE, found).await.expect("such a message")
    }
}

/// A user's connection to a site, which stays open.
async fn tunnel(world: &World) -> TcpStream {
    let mut stream = TcpStream::connect(world.inbound())
        .await
        .expect("an inbound");
    let request = b"CONNECT site.test:80 HTTP/1.1\r\nHost: site.test:80\r\n\r\n";
    stream.write_all(request).await.expect("it is taken");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = timeout(PATIENCE, stream.read_u8()).await;
        head.push(byte.expect("in time").expect("an answer"));
    }
    assert!(head.starts_with(b"HTTP/1.1 200"), "{head:?}");
    stream
}

#[tokio::test]
async fn a_connection_is_seen_while_it_is_open_and_closed_by_its_id() {
    let world = World::start(&json!({}));
    let mut watch = Watch::open(&world.api, "/connections?interval=100").await;
    assert_eq!(watch.next().await["connections"], json!([]));
    let mut stream = tunnel(&world).await;
    let is_one = |answer: &Value| answer["connections"].as_array().unwrap().len() == 1;
    let one = watch.until(is_one).await["connections"][0].clone();
    assert_eq!(one["chains"], json!([BERLIN, "auto", PICK]));
    assert_eq!(one["metadata"]["host"], "site.test");
    assert_eq!(one["metadata"]["destinationPort"], "80");
    assert_eq!(one["metadata"]["network"], "tcp");

    stream.write_all(b"GET /page HTTP/1.1\r\n").await.unwrap();
    watch
        .until(|answer| answer["connections"][0]["upload"] == 20)
        .await;

    let path = format!("/connections/{}", one["id"].as_str().unwrap());
    assert_eq!(world.api.ask("DELETE", &path, "").0, 204);
    let end = timeout(PATIENCE, stream.read(&mut [0; 1]))
        .await
        .expect("an end");
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
    let after = watch
        .until(|answer| answer["connections"] == json!([]))
        .await;
    assert_eq!(after["uploadTotal"], 20, "what is gone counts too");

    let _one = tunnel(&world).await;
    watch.until(is_one).await;
    assert_eq!(world.api.ask("DELETE", "/connections", "").0, 204);
    watch
        .until(|answer| answer["connections"] == json!([]))
        .await;
}

#[tokio::test]
async fn traffic_is_told_by_the_second() {
    let world = World::start(&json!({}));
    let mut watch = Watch::open(&world.api, "/traffic").await;
    assert_eq!(world.way(), "berlin");
    let seen = watch.until(|rate| rate["down"].as_u64() > Some(0)).await;
    assert!(seen["up"].as_u64() > Some(0), "{seen}");
    let silence = watch.until(|rate| rate["down"] == 0).await;
    assert_eq!(silence["downTotal"], seen["downTotal"]);
}

#[tokio::test]
async fn log_lines_come_at_the_level_that_is_asked_for() {
    let world = World::start(&json!({}));
    let mut info = Watch::open(&world.api, "/logs?level=info").await;
    let mut debug = Watch::open(&world.api, "/logs?level=debug&format=structured").await;
    let path = format!("/proxies/{}/delay?timeout=30000", encoded(TOKYO));
    // Whoever listens is heard of by the next step at the latest.
    let is_result = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        text.starts_with("MONITORING event=result") && text.contains(TOKYO)
    };
    assert_eq!(world.api.ask("GET", &path, "").0, 200);
    let line = info.until(|line| is_result(&line["payload"])).await;
    assert_eq!(line["type"], "info");
    let line = debug.until(|line| is_result(&line["message"])).await;
    assert_eq!(line["level"], "info");
    assert!(line["time"].is_string());
    let (status, body) = world.api.ask("GET", "/logs?level=loud", "");
    assert_eq!((status, body), (400, json!({ "message": "Body invalid" })));
}

#[tokio::test]
async fn lines_are_made_for_a_listener_alone_and_only_as_long_as_it_listens() {
    let (port, nobody) = (Port::reserve(), Port::reserve());
    let scene = Scene::new(&json!({
        "outbounds": [{ "type": "direct", "tag": "direct" }],
        "experimental": {
            "clash_api": {
                "external_controller": format!("127.0.0.1:{}", port.number()), "secret": SECRET,
            },
            "monitoring": {
                "urls": [format!("http://127.0.0.1:{}/generate_204", nobody.number())],
                "ip_lookup": false, "interval": "1h", "on_demand_timeouts": ["500ms"],
            },
        },
    }));
    let running = scene.run_with(&["--log-level", "warn"]);
    let api = Api {
        address: format!("127.0.0.1:{}", port.number()),
    };
    let answers = async {
        while TcpStream::connect(&api.address).await.is_err() {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, answers).await.expect("an API");
    let level = || api.get("/configs")["log-level"].clone();
    assert_eq!(level(), "warning");

    let mut watch = Watch::open(&api, "/logs?level=info").await;
    assert_eq!(level(), "info");
    // The engine looks from time to time who listens.
    let heard = async {
        loop {
            let (status, _) = api.ask("GET", "/proxies/direct/delay?timeout=30000", "");
            assert_eq!(status, 503);
            if let Ok(line) = timeout(LOOK_EVERY, watch.next()).await {
                return line;
            }
        }
    };
    let line = timeout(PATIENCE, heard).await.expect("a line");
    assert_eq!(line["type"], "info");

    drop(watch);
    let falls = async {
        while level() != "warning" {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, falls)
        .await
        .expect("nothing is made any more");
    let logged = running.terminated();
    let passed_on = logged.iter().find(|line| line.contains("INFO"));
    assert_eq!(passed_on, None);
}

#[test]
fn one_without_websockets_reads_line_by_line() {
    let world = World::start(&json!({}));
    for (path, field) in [("/memory", "inuse"), ("/traffic", "upTotal")] {
        let url = format!("http://{}{path}?token={SECRET}", world.api.address);
        let answer = Curl::run(["--max-time", "3", "-N", &url]);
        assert_eq!(
            answer.code, 28,
            "it goes on until the client leaves: {answer:?}"
        );
        let line = answer.output.lines().next().expect("a line");
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert!(line[field].is_u64(), "{line}");
    }
}

#[tokio::test]
async fn one_who_watches_is_told_of_the_end() {
    let world = World::start(&json!({}));
    let mut watch = Watch::open(&world.api, "/traffic").await;
    watch.next().await;
    let ended = tokio::task::spawn_blocking(|| world.running.terminate());
    let goodbye = async {
        while let Some(Ok(message)) = watch.0.next().await {
            if message.is_close() {
                return;
            }
        }
        panic!("it was cut off");
    };
    timeout(PATIENCE, goodbye).await.expect("a close");
    // The peer's answer to the close.
    drop(watch);
    assert_eq!(ended.await.expect("an end"), Some(0));
}
