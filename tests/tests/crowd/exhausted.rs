//! A process that has no descriptor left.

use outwatch_tests::peers::{Echo, Visitor};
use tokio::net::TcpStream;

use super::counts::{Counts, allow, alone};
use super::world::World;

/// How many descriptors this process may have more than it has.
const FEW: u64 = 40;

#[tokio::test(flavor = "multi_thread")]
async fn an_inbound_that_runs_out_of_descriptors_serves_again_when_there_are_some() {
    let _alone = alone().await;
    let world = World::new();
    let inbound = world.inbound();
    assert_eq!(
        Visitor::new(inbound).await.socks(world.echo.port()).await,
        Some(0)
    );
    let before = Counts::now();

    allow(FEW);
    let mut crowd = Vec::new();
    while let Ok(stream) = TcpStream::connect(inbound).await {
        crowd.push(stream);
    }
    assert!(!crowd.is_empty(), "some come in");
    drop(crowd);
    before.come_back().await;

    let echo = Echo::start();
    assert_eq!(
        Visitor::new(inbound).await.socks(echo.port()).await,
        Some(0)
    );
}
