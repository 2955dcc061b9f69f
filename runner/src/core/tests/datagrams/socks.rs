//! Datagrams through a relay of SOCKS 5.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use super::super::servers::Server;
use super::super::{SHORT, core, target};
use super::{associate, heard, hears_nothing, receive, socket};
use crate::proxy_core::{Cause, Phase, ProxyCore};
use crate::testing::PATIENCE;

/// A SOCKS proxy whose relay is at `relay`; it says 0.0.0.0. Once asked something on the
/// stream of an association it closes it.
async fn socks5_relay(relay: SocketAddr, reply: u8) -> Server {
    Server::recording(move |mut stream, asked| async move {
        let mut greeting = [0; 3];
        stream.read_exact(&mut greeting).await.unwrap();
        stream.write_all(&[5, 0]).await.unwrap();
        let mut request = [0; 10];
        stream.read_exact(&mut request).await.unwrap();
        asked.lock().unwrap().push(format!("{request:?}"));
        let [high, low] = relay.port().to_be_bytes();
        let answer = [5, reply, 0, 1, 0, 0, 0, 0, high, low];
        stream.write_all(&answer).await.unwrap();
        // The relay of this test tells the end of it.
        let _ = stream.read_u8().await;
        asked.lock().unwrap().push("the end".to_owned());
    })
    .await
}

fn socks(server: &Server) -> Value {
    json!({ "type": "socks", "tag": "socks", "server": "127.0.0.1", "server_port": server.port() })
}

#[tokio::test]
async fn datagrams_through_socks_5_go_to_the_relay_and_only_it_is_heard() {
    let (relay, at) = socket().await;
    let server = socks5_relay(at, 0).await;
    let core = core(json!([socks(&server)]));
    let way = associate(&core, "socks").await.unwrap();
    assert_eq!(server.asked(), ["[5, 3, 0, 1, 0, 0, 0, 0, 0, 0]"]);
    way.send(b"query", &target("a.test:53")).await.unwrap();
    let (packet, from) = heard(&relay).await;
    assert_eq!(packet, b"\0\0\0\x03\x06a.test\0\x35query");
    let (stranger, _) = socket().await;
    stranger
        .send_to(b"\0\0\0\x01\x7f\0\0\x01\0\x35lie", from)
        .await
        .unwrap();
    let packets: [&[u8]; 3] = [
        b"\0\0\x01\x01\x7f\0\0\x01\0\x35fragment",
        b"\0\0\0\x03",
        b"\0\0\0\x01\xc0\0\x02\x07\0\x35answer",
    ];
    for packet in packets {
        relay.send_to(packet, from).await.unwrap();
    }
    let expected = (b"answer".to_vec(), target("192.0.2.7:53"));
    assert_eq!(receive(&*way).await.unwrap(), expected);
    hears_nothing(&*way).await;
    drop(way);
    let ended = async {
        while server.asked().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, ended)
        .await
        .expect("the stream is closed");
}

#[tokio::test]
async fn a_way_through_socks_5_ends_with_its_stream() {
    let (_relay, at) = socket().await;
    let server = socks5_relay(at, 0).await;
    let core = core(json!([socks(&server)]));
    let way = associate(&core, "socks").await.unwrap();
    drop(server);
    let error = receive(&*way).await.unwrap_err();
    assert_eq!(error.phase, Phase::Proxy);
    assert!([Cause::Eof, Cause::Reset].contains(&error.cause), "{error}");
    assert!(error.text.contains("`socks`"), "{error}");
}

#[tokio::test]
async fn t10_a_socks_proxy_without_datagrams_says_so() {
    let (_relay, at) = socket().await;
    for (reply, cause) in [(7, Cause::Unsupported), (1, Cause::ProxyHandshake)] {
        let server = socks5_relay(at, reply).await;
        let core = core(json!([socks(&server)]));
        let error = associate(&core, "socks").await.err().unwrap();
        assert_eq!((error.phase, error.cause), (Phase::Proxy, cause), "{error}");
    }
    let silent = Server::silent().await;
    let core = core(json!([socks(&silent)]));
    let late = core.associate("socks", Instant::now() + SHORT).await;
    let error = late.err().unwrap();
    assert_eq!((error.phase, error.cause), (Phase::Proxy, Cause::Timeout));
}
