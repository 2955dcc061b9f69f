//! The engine that runs, and another in its place.

use outwatch::Component;
use outwatch_tests::engines;
use outwatch_tests::stub::{Stub, answers};

use super::world::World;

const PATH: &str = "/api/v1/engine";

#[tokio::test]
async fn the_engine_tells_who_it_is() {
    let world = World::of(&Stub::with([("a", answers(10))])).await;
    let engine = world.client.get(PATH).await.fine();
    assert_eq!(engine["contract"], Component::CONTRACT);
    assert_eq!(engine["sha256"], world.monitor.component().sha256());
    assert_eq!(engine["runner_version"], env!("CARGO_PKG_VERSION"));
    assert!(
        engine["memory_bytes"]
            .as_u64()
            .is_some_and(|bytes| bytes > 0)
    );
    assert!(engine["version"].is_string(), "{engine}");
}

#[tokio::test]
async fn another_engine_takes_its_place_with_all_results() {
    let stub = Stub::with([("a", answers(10))]);
    let world = World::with(&stub, |api| api.code_cache(engines::code())).await;
    let tested = world.client.post("/api/v1/outbounds/a/test").await.fine();
    let before = world.client.get(PATH).await.fine();
    let other = engines::another_as_bytes();
    let replaced = world.client.put(PATH, other.clone()).await.fine();
    assert_eq!(replaced["before"]["sha256"], before["sha256"]);
    assert_ne!(replaced["engine"]["sha256"], before["sha256"]);
    let kept = world.client.get("/api/v1/outbounds/a").await.fine();
    assert_eq!(
        [&kept["state"], &kept["delay_ms"]],
        [&tested["state"], &tested["delay_ms"]]
    );

    let again = world.client.put(PATH, other).await.fine();
    assert_eq!(
        again["before"]["sha256"], again["engine"]["sha256"],
        "it runs already"
    );
}

#[tokio::test]
async fn what_is_no_engine_changes_nothing() {
    let world = World::of(&Stub::with([("a", answers(10))])).await;
    let before = world.client.get(PATH).await.fine();
    for wrong in [&b""[..], b"no engine", b"\0asm\x0d\0\x01\0"] {
        let answer = world.client.put(PATH, wrong).await;
        assert_eq!(answer.refused(), (400, "bad_component".to_owned()));
    }
    let large = vec![0; 17 * 1024 * 1024];
    let answer = world.client.put(PATH, large).await;
    assert_eq!(answer.refused(), (413, "too_large".to_owned()));
    let after = world.client.get(PATH).await.fine();
    assert_eq!(after["sha256"], before["sha256"]);
}
