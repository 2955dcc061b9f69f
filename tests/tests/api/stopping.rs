//! The end: of the server, and of the monitor under it.

use std::time::Duration;

use outwatch_tests::stub::{Behaviour, Stub, answers};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::world::World;

/// Far beyond what a loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_server_stops_with_streams_open_and_leaves_nothing_behind() {
    let stub = Stub::with([("a", Behaviour::Silent)]);
    let world = World::of(&stub).await;
    let mut events = world.client.listen("/api/v1/events").await;
    events.next().await.expect("a snapshot");
    let asked = world.client.clone().with("accept", "application/x-ndjson");
    let streamed = tokio::spawn(async move { asked.post("/api/v1/test").await });
    let testing = async {
        while stub.fetches().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, testing).await.expect("a test");
    let idle = TcpStream::connect(world.serving.address()).await.unwrap();
    let address = world.serving.address();
    let before = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();

    timeout(PATIENCE, world.serving.stop())
        .await
        .expect("an end");
    while events.next().await.is_some() {}
    let streamed = timeout(PATIENCE, streamed).await.expect("an end").unwrap();
    assert_eq!(streamed.body.len(), 0);
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens");
    drop(idle);
    let after = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(after < before, "{after} of {before} tasks are left");
    // The monitor goes on, and can be served anew.
    assert_eq!(
        world.monitor.reports(outwatch::View::Display).await.len(),
        1
    );
    outwatch::api::Api::new(&world.monitor)
        .serve(address)
        .expect("the address is free");
}

#[tokio::test]
async fn a_monitor_that_has_stopped_is_told_and_its_streams_end() {
    let world = World::of(&Stub::with([("a", answers(10))])).await;
    let mut events = world.client.listen("/api/v1/events").await;
    events.next().await.expect("a snapshot");
    world.monitor.stop().await.unwrap();
    while events.next().await.is_some() {}
    for path in ["/api/v1/outbounds/a/test", "/api/v1/groups/a/test"] {
        let answer = world.client.post(path).await;
        assert!(matches!(answer.status.as_u16(), 503 | 404), "{answer:?}");
    }
    let answer = world.client.get("/api/v1/options").await;
    assert_eq!(answer.refused(), (503, "stopped".to_owned()));
}

#[tokio::test]
async fn dropping_the_server_ends_it_at_once() {
    let world = World::of(&Stub::with([("a", answers(10))])).await;
    let mut events = world.client.listen("/api/v1/events").await;
    events.next().await.expect("a snapshot");
    let address = world.serving.address();
    drop(world.serving);
    while events.next().await.is_some() {}
    let gone = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, gone).await.expect("nobody listens");
}
