//! The real binary answers over HTTP: where it is told to listen, to whom, across a reload, a
//! new engine and its end.

use std::net::SocketAddr;

use outwatch_tests::engines;
use outwatch_tests::http::Client;
use outwatch_tests::peers::{Nginx, Port};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::process::{Running, Scene};

fn config(web: &Nginx, clash_api: &Value) -> Value {
    json!({
        "outbounds": [
            { "type": "selector", "tag": "hand 🖐/#1", "outbounds": ["one", "two"] },
            { "type": "direct", "tag": "one" },
            { "type": "direct", "tag": "two" },
        ],
        "experimental": {
            "monitoring": {
                "urls": [web.url("/generate_204")], "ip_lookup": false, "interval": "1h",
            },
            "clash_api": clash_api,
        },
    })
}

const HAND: &str = "/api/v1/groups/hand%20%F0%9F%96%90%2F%231";

/// Where it says that it answers.
fn address(running: &mut Running) -> SocketAddr {
    let line = running.logged("the API answers on http://");
    let address = line
        .split_once("http://")
        .and_then(|(_, rest)| rest.split('/').next());
    address
        .and_then(|address| address.parse().ok())
        .expect("an address")
}

fn runtime() -> Runtime {
    Runtime::new().expect("a runtime")
}

#[test]
fn it_answers_where_the_config_says_and_to_who_knows_the_secret() {
    let web = Nginx::plain();
    let clash_api = json!({
        "external_controller": "127.0.0.1:0", "secret": "hush",
        "access_control_allow_origin": "https://board.example",
        "default_mode": "rule", "external_ui_download_url": "https://board.example/ui.zip",
    });
    let scene = Scene::new(&config(&web, &clash_api));
    let mut running = scene.run();
    let client = Client::of(address(&mut running));
    runtime().block_on(async {
        assert_eq!(client.get("/api/v1/outbounds").await.status, 401);
        let client = client.knowing("hush");
        let tested = client.post("/api/v1/outbounds/two/test").await.fine();
        assert_eq!(tested["state"], "ok");
        let chosen = client
            .put(&format!("{HAND}/selected"), r#"{"tag":"two"}"#)
            .await
            .fine();
        assert_eq!(chosen["selected"], json!({ "tcp": "two", "udp": "two" }));
        let other = client.with("origin", "https://other.example");
        assert_eq!(other.get("/api/v1/outbounds").await.status, 403);
    });
    let logged = running.terminated();
    let told = logged.iter().find(|line| line.contains("hush"));
    assert_eq!(told, None, "no secret in the log");
    assert!(
        !logged.iter().any(|line| line.contains("unknown field")),
        "{logged:?}"
    );
}

#[test]
fn the_flag_wins_over_the_config_and_takes_its_secret_from_there() {
    let (web, taken) = (Nginx::plain(), Port::reserve());
    let elsewhere = format!("127.0.0.1:{}", taken.number());
    let clash_api = json!({ "external_controller": elsewhere, "secret": "hush" });
    let scene = Scene::new(&config(&web, &clash_api));
    let mut running = scene.run_with(&["--listen", "0.0.0.0:0"]);
    let address = address(&mut running);
    assert!(address.ip().is_unspecified());
    let here = SocketAddr::from(([127, 0, 0, 1], address.port()));
    let client = Client::of(here).knowing("hush");
    runtime().block_on(async { client.get("/api/v1/engine").await.fine() });
    assert_eq!(running.terminate(), Some(0));
}

#[test]
fn what_is_wrong_with_an_address_is_told_with_what_to_do() {
    let web = Nginx::plain();
    let scene = Scene::new(&config(&web, &json!({})));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let cases = [
        (
            "0.0.0.0:0",
            Some(2),
            "a secret is needed",
            "experimental.clash_api.secret",
        ),
        (
            "127.0.0.1",
            Some(2),
            "is no address with a port",
            "--listen",
        ),
        (&taken, Some(1), "cannot listen on", "choose another port"),
    ];
    for (address, code, told, hint) in cases {
        let args = [
            "run",
            "-c",
            "config.json",
            "--no-cache",
            "--listen",
            address,
        ];
        let (ended, _, log) = scene.output(&args);
        assert_eq!(ended, code, "{log}");
        assert!(log.contains(told) && log.contains(hint), "{log}");
    }
    scene.has_config(&config(&web, &json!({ "external_controller": ":0" })).to_string());
    let (ended, _, log) = scene.output(&["run", "-c", "config.json", "--no-cache"]);
    assert_eq!(ended, Some(3), "{log}");
    scene.has_config(&config(&web, &json!({ "external_controller": "nowhere" })).to_string());
    let (ended, _, log) = scene.output(&["check", "-c", "config.json"]);
    assert_eq!(ended, Some(0), "what is served hinders no test: {log}");
    assert!(
        log.contains("experimental.clash_api.external_controller"),
        "{log}"
    );
}

#[test]
fn a_reload_is_followed_by_answers_and_events() {
    let web = Nginx::plain();
    let clash_api = json!({ "external_controller": "127.0.0.1:0" });
    let before = config(&web, &clash_api);
    let scene = Scene::new(&before);
    let mut running = scene.run();
    let client = Client::of(address(&mut running));
    let runtime = runtime();
    let mut events = runtime.block_on(client.listen("/api/v1/events"));
    runtime.block_on(events.next()).expect("a snapshot");

    let mut after = before;
    after["outbounds"][0]["outbounds"] = json!(["three", "one"]);
    after["outbounds"][2]["tag"] = json!("three");
    after["experimental"]["clash_api"]["secret"] = json!("new");
    scene.has_config(&after.to_string());
    running.signal("HUP");
    running.until_logged("a change of `experimental.clash_api` holds from the next start on");
    running.until_logged("the config was read again");
    runtime.block_on(async {
        let (mut gone, mut members) = (false, Value::Null);
        while !gone || members != json!(["three", "one"]) {
            let event = events.next().await.expect("an update").json();
            gone |= event["removed"] == json!(["two"]);
            if let Some(group) = event["groups"].as_array().and_then(|groups| groups.first()) {
                members = group["members"].clone();
            }
        }
        let chosen = client
            .put(&format!("{HAND}/selected"), r#"{"tag":"three"}"#)
            .await;
        assert_eq!(chosen.fine()["selected"]["tcp"], "three");
        let metrics = client.get("/metrics").await.text();
        assert!(metrics.contains(r#"member="three""#), "{metrics}");
    });
    assert_eq!(running.terminate(), Some(0), "with events listened to");
    runtime.block_on(async { while events.next().await.is_some() {} });
}

#[test]
fn an_engine_that_is_put_takes_over_and_stays_across_a_reload() {
    let web = Nginx::plain();
    let clash_api = json!({ "external_controller": "127.0.0.1:0" });
    let scene = Scene::new(&config(&web, &clash_api));
    let mut running = scene.run();
    let client = Client::of(address(&mut running));
    let engine = || runtime().block_on(async { client.get("/api/v1/engine").await.fine() });
    let before = engine();
    running.until_report("a success", |report| report["state"] == "ok");
    let put = client.put("/api/v1/engine", engines::another_as_bytes());
    let put = runtime().block_on(put).fine();
    assert_eq!(put["before"]["sha256"], before["sha256"]);
    running.until_logged("event=took_over");
    running.signal("HUP");
    running.until_logged("the config was read again");
    assert_eq!(engine()["sha256"], put["engine"]["sha256"]);
    assert_eq!(running.terminate(), Some(0));
}
