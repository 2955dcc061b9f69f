//! Outbounds: how they stand, and their tests.

use outwatch::Readiness;
use outwatch_tests::http::in_path;
use outwatch_tests::stub::{Behaviour, Stub, answers, refuses};
use serde_json::{Value, json};

use super::world::World;

/// Tags as people write them, and as those do who mean no good.
const TAGS: [&str; 9] = [
    "Berlin 🇩🇪",
    "a/b",
    "50% off #1?",
    "..",
    "../../etc/passwd",
    "تهران",
    "<script>alert(1)</script>",
    "a&b=c+d;e",
    "test",
];

fn tags(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    let tags = list.iter().map(|one| one["tag"].as_str().expect("a tag"));
    tags.collect()
}

/// The lines of a body, each JSON.
fn lines(body: &str) -> Value {
    let lines = body.lines().map(serde_json::from_str::<Value>);
    lines.collect::<Result<_, _>>().expect("JSON in each line")
}

#[tokio::test]
async fn r8_all_stand_in_config_order_and_each_is_found_whatever_its_tag() {
    let stub = Stub::with(TAGS.map(|tag| (tag, answers(10))));
    let world = World::of(&stub).await;
    let all = world.client.get("/api/v1/outbounds").await.fine();
    assert_eq!(tags(&all["outbounds"]), TAGS);
    for tag in TAGS {
        let path = format!("/api/v1/outbounds/{}", in_path(tag));
        let before = world.client.get(&path).await.fine();
        assert_eq!(
            [&before["tag"], &before["state"], &before["measurements"]],
            [&json!(tag), &json!("untested"), &json!([])]
        );
        let tested = world.client.post(&format!("{path}/test")).await.fine();
        assert_eq!([&tested["tag"], &tested["state"]], [tag, "ok"]);
        let after = world.client.get(&path).await.fine();
        let [measured] = after["measurements"].as_array().unwrap().as_slice() else {
            panic!("{after}");
        };
        assert_eq!(measured["delay_ms"], after["delay_ms"]);
        assert_eq!(measured["error"], json!(null));
    }
}

#[tokio::test]
async fn a_failed_test_is_an_answer_and_what_cannot_be_tested_is_a_conflict() {
    let stub = Stub::with([("down", refuses(5)), ("warming", answers(5))]);
    stub.set_status("warming", Readiness::NotReady("registering".to_owned()));
    let world = World::of(&stub).await;
    let failed = world
        .client
        .post("/api/v1/outbounds/down/test")
        .await
        .fine();
    assert_eq!(failed["state"], "failed");
    assert_eq!(failed["error"]["kind"], "dial_refused");
    let waits = world.client.post("/api/v1/outbounds/warming/test").await;
    assert_eq!(waits.refused(), (409, "not_ready".to_owned()));
    assert!(waits.text().contains("registering"));
    for unknown in ["nothing", "%F0%9F%87%A9", "a%2Fb"] {
        for (method, path) in [
            ("GET", format!("/api/v1/outbounds/{unknown}")),
            ("POST", format!("/api/v1/outbounds/{unknown}/test")),
        ] {
            let answer = world.client.ask(method, &path, "").await;
            assert!(matches!(answer.refused().0, 404 | 400), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn all_are_tested_and_answered_at_once_or_line_by_line() {
    let stub = Stub::with([
        ("slow", answers(300)),
        ("fast", answers(5)),
        ("down", refuses(5)),
        ("off", answers(5)),
    ]);
    stub.set_status(
        "off",
        Readiness::Unsupported("needs another core".to_owned()),
    );
    let world = World::of(&stub).await;
    let streaming = world.client.clone().with("accept", "application/x-ndjson");
    let streamed = streaming.post("/api/v1/test").await;
    assert_eq!(streamed.headers["content-type"], "application/x-ndjson");
    let streamed = lines(&streamed.text());
    let mut told = tags(&streamed);
    assert_eq!(told.last(), Some(&"slow"), "each as it comes");
    told.sort();
    assert_eq!(told, ["down", "fast", "off", "slow"]);

    let whole = world.client.post("/api/v1/test").await.fine();
    assert_eq!(tags(&whole["outbounds"]), ["slow", "fast", "down", "off"]);
    let states = whole["outbounds"].as_array().unwrap();
    let states: Vec<_> = states.iter().map(|one| one["state"].as_str()).collect();
    let [ok, failed, not_ready] = [Some("ok"), Some("failed"), Some("not_ready")];
    assert_eq!(states, [ok, ok, failed, not_ready]);
}

#[tokio::test]
async fn r3_people_see_a_running_test_and_groups_do_not() {
    let stub = Stub::with([("a", Behaviour::Silent)]);
    let world = World::of(&stub).await;
    let mut events = world.client.listen("/api/v1/events").await;
    events.next().await.expect("a snapshot");
    let asked = world.client.clone();
    let asking = tokio::spawn(async move { asked.post("/api/v1/outbounds/a/test").await });
    loop {
        let event = events.next().await.expect("an update").json();
        if event["reports"][0]["testing"] == true {
            break;
        }
    }
    let shown = world.client.get("/api/v1/outbounds").await.fine();
    assert_eq!(shown["outbounds"][0]["testing"], true);
    let confirmed = world
        .client
        .get("/api/v1/outbounds?view=confirmed")
        .await
        .fine();
    assert_eq!(confirmed["outbounds"][0]["testing"], false);
    asking.abort();
}

#[tokio::test]
async fn options_and_changes_of_the_network_are_there_too() {
    let world = World::of(&Stub::with([("a", answers(10))])).await;
    let options = world.client.get("/api/v1/options").await.fine();
    assert_eq!(options["debounce_window"], "10ms");
    assert_eq!(options["workers"], 10, "defaults are filled in");
    let told = world.client.post("/api/v1/network-changed").await;
    assert_eq!((told.status.as_u16(), told.body.len()), (204, 0));
}
