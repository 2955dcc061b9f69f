//! Datagrams through outbounds, against sockets that speak by the book or not at all.

mod direct;
mod listing;
mod shadowsocks;
mod socks;
mod tunnels;

use std::net::SocketAddr;

use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout};

use super::SHORT;
use crate::NativeCore;
use crate::proxy_core::{Datagrams, FetchError, ProxyCore, Target};
use crate::testing::PATIENCE;

async fn associate(core: &NativeCore, tag: &str) -> Result<Box<dyn Datagrams>, FetchError> {
    core.associate(tag, Instant::now() + PATIENCE).await
}

async fn receive(way: &dyn Datagrams) -> Result<(Vec<u8>, Target), FetchError> {
    timeout(PATIENCE, way.receive()).await.expect("in time")
}

async fn hears_nothing(way: &dyn Datagrams) {
    let heard = timeout(SHORT, way.receive()).await;
    assert!(heard.is_err(), "{heard:?}");
}

async fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// The next datagram, and who sent it.
async fn heard(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buffer = vec![0; 2048];
    let received = timeout(PATIENCE, socket.recv_from(&mut buffer)).await;
    let (length, from) = received.expect("in time").unwrap();
    buffer.truncate(length);
    (buffer, from)
}
