//! Connections that fail, in every way there is.

use outwatch_tests::peers::{Manners, Port, Rude, Visitor};
use tokio::task::JoinSet;

use super::counts::{Counts, alone};
use super::world::World;

/// How many of each.
const EACH: usize = 50;

/// How often all of them.
const ROUNDS: usize = 3;

/// A way to fail.
#[derive(Clone, Copy, Debug)]
enum Way {
    Refused,
    RefusedOverHttp,
    UnknownName,
    ServerResets,
    ServerCloses,
    Garbage,
    LeavesAtOnce,
    LeavesInTheMiddle,
    ResetsWhileOpen,
    LeavesWhileServerHangs,
}

const WAYS: [Way; 10] = [
    Way::Refused,
    Way::RefusedOverHttp,
    Way::UnknownName,
    Way::ServerResets,
    Way::ServerCloses,
    Way::Garbage,
    Way::LeavesAtOnce,
    Way::LeavesInTheMiddle,
    Way::ResetsWhileOpen,
    Way::LeavesWhileServerHangs,
];

/// The ports that a way leads to.
#[derive(Clone, Copy)]
struct Ports {
    echo: u16,
    nobody: u16,
    resets: u16,
    closes: u16,
    hangs: u16,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_soak_of_failing_connections_leaves_nothing_behind() {
    let _alone = alone().await;
    let world = World::new();
    let nobody = Port::reserve();
    let [resets, closes, hangs] =
        [Manners::Resets, Manners::Closes, Manners::Hangs].map(Rude::start);
    let ports = Ports {
        echo: world.echo.port(),
        nobody: nobody.number(),
        resets: resets.port(),
        closes: closes.port(),
        hangs: hangs.port(),
    };
    let inbound = world.inbound();
    Visitor::new(inbound).await.socks(ports.echo).await;
    let before = Counts::now();

    for _ in 0..ROUNDS {
        let mut crowd = JoinSet::new();
        for way in WAYS.iter().flat_map(|way| [*way; EACH]) {
            crowd.spawn(async move { fail(Visitor::new(inbound).await, way, ports).await });
        }
        while let Some(ended) = crowd.join_next().await {
            ended.expect("every failure is told");
        }
    }
    before.come_back().await;
    Visitor::new(inbound)
        .await
        .socks(ports.echo)
        .await
        .expect("it still serves");
}

async fn fail(mut visitor: Visitor, way: Way, ports: Ports) {
    match way {
        Way::Refused => assert_eq!(visitor.socks(ports.nobody).await, Some(5)),
        Way::RefusedOverHttp => {
            let head = visitor.connect(ports.nobody).await;
            assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
        }
        Way::UnknownName => {
            // No label may be so long, which is known without asking a name server.
            let request = [
                b"\x05\x01\x00\x05\x01\x00\x03\x40",
                &[b'x'; 64][..],
                b"\x00\x50",
            ];
            visitor.sends(&request.concat()).await;
            assert_eq!(visitor.hears(12).await.get(3), Some(&4));
        }
        Way::ServerResets | Way::ServerCloses => {
            let port = match way {
                Way::ServerResets => ports.resets,
                _ => ports.closes,
            };
            assert_eq!(visitor.socks(port).await, Some(0));
            visitor.sends(b"hello").await;
            assert_eq!(visitor.hears(1).await, b"");
        }
        Way::Garbage => {
            visitor.sends(b"\x00\x01\x02 nonsense\r\n\r\n").await;
            visitor.hears(64 * 1024).await;
        }
        Way::LeavesAtOnce => {}
        Way::LeavesInTheMiddle => visitor.sends(b"\x05\x01\x00\x05\x01").await,
        Way::ResetsWhileOpen => {
            assert_eq!(visitor.socks(ports.echo).await, Some(0));
            visitor
                .0
                .set_zero_linger()
                .expect("a socket that may be reset");
        }
        Way::LeavesWhileServerHangs => assert_eq!(visitor.socks(ports.hangs).await, Some(0)),
    }
}
