//! UDP of SOCKS 5, end to end by this host's own sockets.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde_json::json;
use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::{Fake, Raw, SHORT, open, serve};
use crate::inbound::Serving;
use crate::testing::PATIENCE;

/// A client with an association.
pub(super) struct Associated {
    pub(super) control: Raw,
    socket: UdpSocket,
    relay: SocketAddr,
}

impl Associated {
    pub(super) async fn new(inbound: &Serving) -> Self {
        let mut control = Raw::connect(inbound).await;
        control.says([5, 1, 0], [5, 0]).await;
        control
            .says([5, 3, 0, 1, 0, 0, 0, 0, 0, 0], [5, 0, 0, 1, 127, 0, 0, 1])
            .await;
        let mut port = [0; 2];
        tokio::io::AsyncReadExt::read_exact(&mut control.0, &mut port)
            .await
            .unwrap();
        Self {
            control,
            socket: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap(),
            relay: SocketAddr::from((Ipv4Addr::LOCALHOST, u16::from_be_bytes(port))),
        }
    }

    pub(super) async fn sends(&self, fragment: u8, address: &[u8], port: u16, payload: &[u8]) {
        let datagram = [&[0, 0, fragment], address, &port.to_be_bytes(), payload].concat();
        self.socket.send_to(&datagram, self.relay).await.unwrap();
    }

    /// The payload of the next datagram, which must say that it comes from `port`.
    pub(super) async fn hears(&self, port: u16) -> Vec<u8> {
        let mut buffer = [0; 2048];
        let received = timeout(PATIENCE, self.socket.recv_from(&mut buffer)).await;
        let (length, from) = received.expect("a datagram in time").unwrap();
        assert_eq!(from, self.relay);
        let head = [&[0, 0, 0, 1, 127, 0, 0, 1][..], &port.to_be_bytes()].concat();
        let datagram = &buffer[..length];
        datagram
            .strip_prefix(&head[..])
            .expect("its source before it")
            .to_vec()
    }

    async fn hears_nothing(&self) {
        let heard = timeout(SHORT, self.socket.recv_from(&mut [0; 64])).await;
        assert!(heard.is_err(), "{heard:?}");
    }
}

/// A server that says every datagram again, and its port.
pub(super) async fn echo() -> u16 {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = socket.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            socket.send_to(&buffer[..length], from).await.unwrap();
        }
    });
    port
}

fn fake() -> Arc<Fake> {
    Arc::new(Fake {
        carries_datagrams: true,
        ..Fake::default()
    })
}

pub(super) const LOOPBACK: [u8; 5] = [1, 127, 0, 0, 1];

#[tokio::test]
async fn datagrams_go_to_many_targets_and_come_back_with_their_source() {
    let inbound = open("mixed", &fake());
    let client = Associated::new(&inbound).await;
    let (one, other) = (echo().await, echo().await);
    client.sends(0, &LOOPBACK, one, b"one").await;
    assert_eq!(client.hears(one).await, b"one");
    client.sends(0, b"\x03\x09localhost", other, b"other").await;
    assert_eq!(client.hears(other).await, b"other");
    client.sends(0, &LOOPBACK, one, b"").await;
    assert_eq!(client.hears(one).await, b"");
}

#[tokio::test]
async fn fragments_strangers_and_garbage_are_dropped() {
    let inbound = open("socks", &fake());
    let client = Associated::new(&inbound).await;
    let port = echo().await;
    client.sends(1, &LOOPBACK, port, b"a fragment").await;
    client
        .sends(0, &[9, 9, 9], port, b"an unknown address type")
        .await;
    client.sends(0, b"\x03\x03a b", port, b"no host").await;
    client.socket.send_to(b"\0\0", client.relay).await.unwrap();
    client.sends(0, &LOOPBACK, port, b"mine").await;
    assert_eq!(client.hears(port).await, b"mine");

    // Another socket on the same host, and the server by itself.
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let datagram = [&[0, 0, 0][..], &LOOPBACK, &port.to_be_bytes(), b"stranger"].concat();
    stranger.send_to(&datagram, client.relay).await.unwrap();
    client.hears_nothing().await;
    assert!(stranger.try_recv(&mut [0; 64]).is_err());
}

#[tokio::test]
async fn an_association_ends_with_its_connection() {
    let inbound = open("socks", &fake());
    let client = Associated::new(&inbound).await;
    let port = echo().await;
    client.sends(0, &LOOPBACK, port, b"here").await;
    client.hears(port).await;
    let Associated {
        control,
        socket,
        relay,
    } = client;
    drop(control);
    // The port is free again: somebody else may have it.
    let freed = async {
        while UdpSocket::bind(relay).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, freed).await.unwrap();
    drop(socket);
}

#[tokio::test]
async fn an_association_without_datagrams_ends_by_itself() {
    let inbound = json!({ "type": "socks", "listen_port": 0, "udp_timeout": "200ms" });
    let inbound = serve(inbound, &fake());
    let mut client = Associated::new(&inbound).await;
    assert_eq!(client.control.rest().await, b"");
}
