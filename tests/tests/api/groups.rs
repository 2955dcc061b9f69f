//! Groups: where they lead and why, their tests, and choosing in them.

use std::sync::Arc;

use outwatch::MemoryCache;
use outwatch::group::{GroupPlan, Groups, Policy};
use outwatch_tests::stub::{Stub, answers, refuses};
use serde_json::{Value, json};

use super::world::World;

const LOWEST: Policy = Policy::LowestDelay { tolerance_ms: 50 };

fn stub() -> Stub {
    let stub = Stub::with([
        ("near", answers(20)),
        ("far", answers(400)),
        ("down", refuses(5)),
    ]);
    stub.add_group("hand", &["far", "near"], None);
    stub.add_group("auto 🏁/1", &["far", "near", "down"], None);
    stub.add_group("turns", &["near", "far"], None);
    stub
}

fn plans() -> [GroupPlan; 3] {
    [
        GroupPlan::new("hand", Policy::Selected),
        GroupPlan::new("auto 🏁/1", LOWEST),
        GroupPlan::new("turns", Policy::RoundRobin { ratio: 2.0 }),
    ]
}

const AUTO: &str = "/api/v1/groups/auto%20%F0%9F%8F%81%2F1";

/// Waits until a group is told of that is as wanted.
async fn told(world: &World, tag: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut events = world.client.listen("/api/v1/events").await;
    loop {
        let event = events.next().await.expect("an event").json();
        let groups = event["groups"].as_array().expect("groups").iter();
        let mut found = groups.filter(|group| group["tag"] == tag && wanted(group));
        if let Some(group) = found.next() {
            return group.clone();
        }
    }
}

#[tokio::test]
async fn each_tells_its_members_where_it_leads_and_why() {
    let world = World::choosing(&stub(), plans()).await;
    let all = world.client.get("/api/v1/groups").await.fine();
    let [hand, auto, turns] = all["groups"].as_array().unwrap().as_slice() else {
        panic!("{all}");
    };
    let far = json!({ "tcp": "far", "udp": null });
    assert_eq!(
        [&hand["tag"], &hand["selected"]],
        [&json!("hand"), &json!({"tcp": "far", "udp": "far"})]
    );
    assert_eq!(
        [&hand["selectable"], &hand["why"]],
        [&json!(true), &json!(null)]
    );
    assert_eq!(
        [&auto["members"], &auto["selected"]],
        [&json!(["far", "near", "down"]), &far]
    );
    assert_eq!(
        [&hand["strategy"], &auto["strategy"], &turns["strategy"]],
        [&json!(null), &json!("lowest-delay"), &json!("round-robin")]
    );
    assert_eq!(auto["selectable"], false);
    assert_eq!(auto["why"], "kept `far`: no member is known to work");
    assert_eq!(turns["selected"], json!({ "tcp": null, "udp": null }));
    assert!(
        turns["why"]
            .as_str()
            .is_some_and(|why| why.contains("next member"))
    );

    world.client.post(&format!("{AUTO}/test")).await.fine();
    let auto = told(&world, "auto 🏁/1", |auto| {
        auto["selected"]["tcp"] == "near"
    })
    .await;
    let decision = &auto["decision"]["tcp"];
    assert_eq!(decision["member"], "near");
    assert!(matches!(
        decision["reason"].as_str(),
        Some("faster" | "fastest" | "current-failed")
    ));
    let why = auto["why"].as_str().expect("a reason");
    assert!(why.contains("`near`") && why.contains(" ms)"), "{why}");
    let one = world.client.get(AUTO).await.fine();
    assert_eq!(one["report"]["via"], "near");
    assert_eq!(one["report"]["kind"], "group");
}

#[tokio::test]
async fn g1_a_person_chooses_a_member_and_it_is_told() {
    let world = World::choosing(&stub(), plans()).await;
    let chosen = world
        .client
        .put("/api/v1/groups/hand/selected", r#"{"tag": "near"}"#)
        .await;
    assert_eq!(
        chosen.fine()["selected"],
        json!({ "tcp": "near", "udp": "near" })
    );
    told(&world, "hand", |hand| hand["selected"]["tcp"] == "near").await;
    let refused =
        async |path: &str, body: &'static str| world.client.put(path, body).await.refused();
    let hand = "/api/v1/groups/hand/selected";
    let refusals = [
        refused(hand, r#"{"tag": "nobody"}"#).await,
        refused(hand, "near").await,
        refused(hand, "{}").await,
        refused(&format!("{AUTO}/selected"), r#"{"tag": "near"}"#).await,
        refused("/api/v1/groups/near/selected", r#"{"tag": "near"}"#).await,
        refused("/api/v1/groups/none/selected", r#"{"tag": "near"}"#).await,
    ];
    let expected = [
        (400, "no_such_member"),
        (400, "bad_body"),
        (400, "bad_body"),
        (400, "not_selectable"),
        (404, "no_such_tag"),
        (404, "no_such_tag"),
    ];
    assert_eq!(
        refusals,
        expected.map(|(status, code)| (status, code.to_owned()))
    );
    let hand = world.client.get("/api/v1/groups/hand").await.fine();
    assert_eq!(
        hand["selected"]["tcp"], "near",
        "nothing refused changes anything"
    );
}

#[tokio::test]
async fn s9_a_group_is_tested_whole_or_told_line_by_line() {
    let world = World::choosing(&stub(), plans()).await;
    let report = world.client.post(&format!("{AUTO}/test")).await.fine();
    assert_eq!([&report["tag"], &report["kind"]], ["auto 🏁/1", "group"]);
    let streaming = world
        .client
        .clone()
        .with("accept", "application/x-ndjson, */*;q=0.1");
    let lines = streaming.post(&format!("{AUTO}/test")).await.text();
    let mut tags: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["tag"].clone())
        .collect();
    tags.sort_by_key(Value::to_string);
    assert_eq!(tags, ["down", "far", "near"]);
    let unknown = world.client.post("/api/v1/groups/none/test").await;
    assert_eq!(unknown.refused().0, 404);
    let outbound = world.client.post("/api/v1/groups/near/test").await;
    assert_eq!(outbound.refused().0, 404);
    let group = world.client.post("/api/v1/outbounds/hand/test").await;
    assert_eq!(group.refused(), (404, "is_a_group".to_owned()));
}

#[tokio::test]
async fn groups_that_take_the_place_of_others_are_told_of() {
    let stub = stub();
    let mut world = World::choosing(&stub, plans()).await;
    told(&world, "auto 🏁/1", |auto| auto["selectable"] == false).await;
    let renewed = [GroupPlan::new("auto 🏁/1", Policy::Selected)];
    let cache = Arc::new(MemoryCache::default());
    let renewed = Groups::new(Arc::new(stub), renewed, cache);
    world.keep(&renewed);
    world.serving.set_groups(renewed);
    told(&world, "auto 🏁/1", |auto| auto["selectable"] == true).await;
    let chosen = world
        .client
        .put(&format!("{AUTO}/selected"), r#"{"tag":"down"}"#)
        .await;
    assert_eq!(chosen.fine()["selected"]["tcp"], "down");
}

#[tokio::test]
async fn without_groups_of_ours_the_core_leads_and_is_chosen_in() {
    let world = World::of(&stub()).await;
    let hand = world.client.get("/api/v1/groups/hand").await.fine();
    assert_eq!(
        [&hand["members"], &hand["selectable"]],
        [&json!(["far", "near"]), &json!(true)]
    );
    let chosen = world
        .client
        .put("/api/v1/groups/hand/selected", r#"{"tag": "near"}"#)
        .await;
    assert_eq!(chosen.fine()["selected"]["tcp"], "near");
}
