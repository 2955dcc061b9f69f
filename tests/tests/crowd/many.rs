//! Connections that work.

use outwatch_tests::peers::Visitor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::counts::{Counts, alone};
use super::world::{World, together};

const CROWD: usize = 1_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_connections_at_once_work_and_leave_nothing_behind() {
    let _alone = alone().await;
    let world = World::new();
    let (inbound, port) = (world.inbound(), world.echo.port());
    Visitor::new(inbound).await.socks(port).await;
    let before = Counts::now();

    together(CROWD, |number, all_are_there| async move {
        let mut visitor = Visitor::new(inbound).await;
        if number % 2 == 0 {
            assert_eq!(visitor.socks(port).await, Some(0));
        } else {
            assert!(visitor.connect(port).await.starts_with("HTTP/1.1 200 "));
        }
        let words = format!("I am number {number}");
        visitor.echoes(words.as_bytes()).await;
        all_are_there.wait().await;
        visitor.echoes(words.as_bytes()).await;
    })
    .await;
    before.come_back().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn much_goes_both_ways_at_once_unharmed() {
    let _alone = alone().await;
    let world = World::new();
    let mut visitor = Visitor::new(world.inbound()).await;
    assert_eq!(visitor.socks(world.echo.port()).await, Some(0));
    let sent: Vec<u8> = (0..8u32 * 1024 * 1024)
        .map(|n| (n / 7 % 251) as u8)
        .collect();
    let mut heard = Vec::new();
    let (mut read, mut write) = visitor.0.split();
    let speak = async {
        write.write_all(&sent).await.expect("all is taken");
        write.shutdown().await.expect("the end is taken");
    };
    let (_, length) = tokio::join!(speak, read.read_to_end(&mut heard));
    assert_eq!(length.expect("an end, and no reset"), sent.len());
    assert!(heard == sent, "what comes back is what was sent");
}
