//! A client of an inbound, byte by byte. It must not know what it is there for.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A bound for what takes no time on a machine that is not busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to an inbound.
#[derive(Debug)]
pub struct Visitor(pub TcpStream);

impl Visitor {
    /// Connects to it.
    ///
    /// # Panics
    /// When nobody listens there.
    pub async fn new(inbound: SocketAddr) -> Self {
        let connected = timeout(PATIENCE, TcpStream::connect(inbound)).await;
        Self(connected.expect("in time").expect("an open inbound"))
    }

    /// Sends bytes, whether or not anybody takes them.
    pub async fn sends(&mut self, bytes: &[u8]) {
        // A client that was cut already sends in vain.
        let _ = self.0.write_all(bytes).await;
    }

    /// The next bytes; fewer if the other side closes.
    ///
    /// # Panics
    /// When the other side is silent for a minute.
    pub async fn hears(&mut self, most: usize) -> Vec<u8> {
        let mut heard = Vec::new();
        let mut limited = (&mut self.0).take(most as u64);
        let read = timeout(PATIENCE, limited.read_to_end(&mut heard)).await;
        // A reset ends it too.
        let _ = read.expect("an answer or an end in time");
        heard
    }

    /// Asks for a port of 127.0.0.1 by SOCKS 5; the reply code.
    pub async fn socks(&mut self, port: u16) -> Option<u8> {
        let [high, low] = port.to_be_bytes();
        self.sends(&[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, high, low])
            .await;
        self.hears(12).await.get(3).copied()
    }

    /// Asks for a port of 127.0.0.1 by CONNECT; the head of the answer.
    pub async fn connect(&mut self, port: u16) -> String {
        let request = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\n");
        self.sends(request.as_bytes()).await;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match self.hears(1).await.first() {
                Some(byte) => head.push(*byte),
                None => break,
            }
        }
        String::from_utf8_lossy(&head).into_owned()
    }

    /// Fails unless these bytes come back.
    ///
    /// # Panics
    /// When others do, or none.
    pub async fn echoes(&mut self, bytes: &[u8]) {
        self.sends(bytes).await;
        assert_eq!(self.hears(bytes.len()).await, bytes);
    }
}
