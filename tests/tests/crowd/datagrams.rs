//! Ways for datagrams, those that work and those that fail.

use outwatch_tests::peers::{Inbound, Manners, Port, Rude, SingBox, Visitor, outbound, with};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::counts::{Counts, alone};
use super::world::{World, together};

const CROWD: usize = 200;

const UUID: &str = "0f1e2d3c-4b5a-4697-8877-665544332211";

/// Many ways at once carry datagrams, and leave nothing behind when their clients leave.
async fn crowd(outbound: &Value) {
    let world = World::through(outbound);
    let (inbound, port) = (world.inbound(), world.udp_echo.port());
    // What is made once, such as threads for names, is made.
    let mut first = Visitor::new(inbound).await;
    let way = first.associate().await.expect("a way");
    way.echoes(port, b"first").await;
    drop(first);
    let before = Counts::now();

    together(CROWD, |number, all_are_there| async move {
        let mut visitor = Visitor::new(inbound).await;
        let socket = visitor.associate().await.expect("a way");
        let words = format!("I am number {number}");
        socket.echoes(port, words.as_bytes()).await;
        all_are_there.wait().await;
        socket.echoes(port, words.as_bytes()).await;
        if number % 2 == 0 {
            visitor.0.set_zero_linger().expect("it may be reset");
        }
    })
    .await;
    before.come_back().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_ways_for_datagrams_straight_out_leaves_nothing_behind() {
    let _alone = alone().await;
    crowd(&json!({ "type": "direct", "tag": "out" })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_ways_for_datagrams_through_each_protocol_leaves_nothing_behind() {
    let _alone = alone().await;
    let server = SingBox::start([
        Inbound::socks(),
        Inbound::shadowsocks("2022-blake3-aes-128-gcm", "MDEyMzQ1Njc4OWFiY2RlZg=="),
        Inbound::trojan("secret"),
        Inbound::vless(UUID),
    ]);
    for index in 0..4 {
        crowd(&server.outbound(index, "out")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ways_for_datagrams_that_fail_leave_nothing_behind() {
    let _alone = alone().await;
    let nobody = Port::reserve();
    let [resets, closes, hangs, babbles] = [
        Manners::Resets,
        Manners::Closes,
        Manners::Hangs,
        Manners::Babbles,
    ]
    .map(Rude::start);
    let mut outbounds = Vec::new();
    for port in [
        nobody.number(),
        resets.port(),
        closes.port(),
        hangs.port(),
        babbles.port(),
    ] {
        outbounds.extend([
            outbound("socks", "out", port),
            with(outbound("trojan", "out", port), json!({ "password": "x" })),
            with(outbound("vless", "out", port), json!({ "uuid": UUID })),
            with(
                outbound("shadowsocks", "out", port),
                json!({ "method": "aes-128-gcm", "password": "x" }),
            ),
        ]);
    }
    outbounds.push(outbound("http", "out", nobody.number()));
    for outbound in outbounds {
        let world = World::through(&outbound);
        let (inbound, port) = (world.inbound(), world.udp_echo.port());
        let before = Counts::now();
        let mut crowd = JoinSet::new();
        for _ in 0..20 {
            crowd.spawn(async move {
                let mut visitor = Visitor::new(inbound).await;
                // A proxy that hangs is given up by the client.
                let associated = tokio::time::timeout(
                    std::time::Duration::from_millis(500),
                    visitor.associate(),
                );
                if let Ok(Ok(socket)) = associated.await {
                    socket.sends(port, b"is anybody there?").await;
                    socket.sends(port, b"anybody?").await;
                }
            });
        }
        while let Some(ended) = crowd.join_next().await {
            ended.expect("every failure is told");
        }
        before.come_back().await;
    }
}
