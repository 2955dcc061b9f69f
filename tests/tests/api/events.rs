//! Events: everything first, then what changes, for each listener at its own pace.

use outwatch::Outbound;
use outwatch_tests::http::Events;
use outwatch_tests::stub::{Stub, answers};
use serde_json::{Value, json};

use super::world::World;

const PATH: &str = "/api/v1/events";

/// Reads until one update or more have told the delays of all these tags; gives the id of
/// the last.
async fn until_tested(events: &mut Events, tags: &[&str]) -> String {
    let mut left = Vec::from(tags);
    loop {
        let event = events.next().await.expect("an update");
        assert_eq!(event.name, "update");
        for report in event.json()["reports"].as_array().expect("reports") {
            if !report["delay_ms"].is_null() && report["testing"] == false {
                left.retain(|tag| report["tag"] != *tag);
            }
        }
        if left.is_empty() {
            return event.id;
        }
    }
}

fn tags_of(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list").iter();
    list.map(|one| one["tag"].as_str().expect("a tag"))
        .collect()
}

#[tokio::test]
async fn r4_a_snapshot_comes_first_and_then_each_change() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20))]);
    stub.add_group("g", &["a", "b"], Some("b"));
    let world = World::of(&stub).await;
    world.client.post("/api/v1/outbounds/b/test").await.fine();
    let mut events = world.client.listen(PATH).await;
    let first = events.next().await.unwrap();
    assert_eq!(first.name, "snapshot");
    let all = first.json();
    assert_eq!(tags_of(&all["outbounds"]), ["a", "b"]);
    assert_eq!(
        all["outbounds"][1]["measurements"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(tags_of(&all["groups"]), ["g"]);
    assert_eq!(all["groups"][0]["report"]["via"], "b");

    world.client.post("/api/v1/outbounds/a/test").await.fine();
    let last = until_tested(&mut events, &["a"]).await;
    assert_ne!(last, first.id);
    let start = |id: &str| id.split_once('-').map(|(start, _)| start.to_owned());
    assert_eq!(start(&last), start(&first.id), "the same start");
}

#[tokio::test]
async fn one_who_comes_back_gets_what_it_missed_and_no_snapshot() {
    let stub = Stub::with([("a", answers(10)), ("b", answers(20)), ("c", answers(30))]);
    let world = World::of(&stub).await;
    let mut events = world.client.listen(PATH).await;
    events.next().await.unwrap();
    world.client.post("/api/v1/outbounds/a/test").await.fine();
    let last = until_tested(&mut events, &["a"]).await;
    drop(events);
    for tag in ["b", "c", "b"] {
        world
            .client
            .post(&format!("/api/v1/outbounds/{tag}/test"))
            .await
            .fine();
    }
    let back = world.client.clone().with("last-event-id", &last);
    let mut events = back.listen(PATH).await;
    until_tested(&mut events, &["b", "c"]).await;
}

#[tokio::test]
async fn one_whose_last_event_is_unknown_gets_a_snapshot() {
    let stub = Stub::with([("a", answers(10))]);
    let world = World::of(&stub).await;
    let mut events = world.client.listen(PATH).await;
    let id = events.next().await.unwrap().id;
    let (start, _) = id.split_once('-').unwrap();
    let ids = [
        "0000000000000000-1",
        "nonsense",
        "",
        "-",
        &format!("{start}-999999"),
        &format!("{start}-x"),
    ];
    for id in ids {
        let back = world.client.clone().with("last-event-id", id);
        let event = back.listen(PATH).await.next().await.unwrap();
        assert_eq!(event.name, "snapshot", "{id}");
    }
}

#[tokio::test]
async fn outbounds_that_go_and_come_are_told() {
    let stub = Stub::with([("stays", answers(10)), ("goes", answers(10))]);
    stub.add_group("group", &["stays"], None);
    let world = World::of(&stub).await;
    let mut events = world.client.listen(PATH).await;
    let first = events.next().await.unwrap();
    stub.remove("goes");
    stub.remove("group");
    stub.add(Outbound::new("comes", "stub"), answers(10));
    world.monitor.outbounds_changed();
    let mut removed = Vec::new();
    let mut came = false;
    while removed.len() < 2 || !came {
        let event = events.next().await.unwrap().json();
        removed.extend(event["removed"].as_array().unwrap().clone());
        came |= tags_of(&event["reports"]).contains(&"comes");
    }
    removed.sort_by_key(Value::to_string);
    assert_eq!(removed, ["goes", "group"]);

    let back = world.client.clone().with("last-event-id", &first.id);
    let missed = back.listen(PATH).await.next().await.unwrap();
    assert_eq!(missed.name, "update");
    let mut removed = missed.json()["removed"].as_array().unwrap().clone();
    removed.sort_by_key(Value::to_string);
    assert_eq!(removed, ["goes", "group"], "who was away hears of it too");
    let anew = world.client.listen(PATH).await.next().await.unwrap().json();
    assert_eq!(tags_of(&anew["outbounds"]), ["stays", "comes"]);
    assert_eq!(anew["groups"], json!([]));
}

#[tokio::test]
async fn r4_one_who_does_not_read_misses_states_in_between_and_never_the_last() {
    // Many, so that what is told does not fit in the buffers of a connection.
    let many = (0..3000).map(|nth| (format!("outbound number {nth}"), answers(1)));
    let stub = Stub::with(many.chain([("last".to_owned(), answers(1))]));
    let world = World::of(&stub).await;
    let mut slow = world.client.listen(PATH).await;
    let mut quick = world.client.listen(PATH).await;
    quick.next().await.expect("a snapshot");
    for _ in 0..5 {
        world.client.post("/api/v1/test").await.fine();
    }
    stub.set("last", answers(70));
    let delay = world
        .client
        .post("/api/v1/outbounds/last/test")
        .await
        .fine()["delay_ms"]
        .clone();
    let shows = |event: &Value| {
        let reports = event["reports"].as_array().into_iter().flatten();
        reports
            .into_iter()
            .any(|report| report["tag"] == "last" && report["delay_ms"] == delay)
    };
    let mut told = 0;
    loop {
        let event = slow.next().await.expect("an event").json();
        told += event["reports"].as_array().map_or(0, Vec::len);
        if shows(&event) {
            break;
        }
    }
    assert!(
        told < 5 * 3000,
        "states in between were passed over: {told}"
    );
    while !shows(&quick.next().await.expect("an event").json()) {}
}

#[tokio::test]
async fn many_listen_at_once_and_all_hear_the_same() {
    let stub = Stub::with([("a", answers(10))]);
    let world = World::of(&stub).await;
    let mut listeners = Vec::new();
    for _ in 0..100 {
        let mut events = world.client.listen(PATH).await;
        events.next().await.expect("a snapshot");
        listeners.push(events);
    }
    world.client.post("/api/v1/outbounds/a/test").await.fine();
    for events in &mut listeners {
        until_tested(events, &["a"]).await;
    }
}
