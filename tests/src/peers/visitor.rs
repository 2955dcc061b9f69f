//! A client of an inbound, byte by byte. It must not know what it is there for.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// A bound for what takes no time on a machine that is not busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to an inbound.
#[derive(Debug)]
pub struct Visitor(pub TcpStream);

/// A way for datagrams through an inbound.
#[derive(Debug)]
pub struct Association(UdpSocket);

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

    /// Asks for a way for datagrams by SOCKS 5. It lasts as long as this connection.
    ///
    /// # Errors
    /// The reply code, if there is one.
    ///
    /// # Panics
    /// When the system has no socket left.
    pub async fn associate(&mut self) -> Result<Association, Option<u8>> {
        self.sends(&[5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]).await;
        let answer = self.hears(12).await;
        let &[5, 0, 5, 0, 0, 1, a, b, c, d, high, low] = answer.as_slice() else {
            return Err(answer.get(3).copied());
        };
        let relay = SocketAddr::from(([a, b, c, d], u16::from_be_bytes([high, low])));
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let socket = socket.expect("a socket");
        socket.connect(relay).await.expect("a route to loopback");
        Ok(Association(socket))
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

impl Association {
    /// Sends a datagram to a port of 127.0.0.1.
    pub async fn sends(&self, port: u16, payload: &[u8]) {
        let [high, low] = port.to_be_bytes();
        let head = [0, 0, 0, 1, 127, 0, 0, 1, high, low];
        // One that is lost is lost.
        let _ = self.0.send(&[&head[..], payload].concat()).await;
    }

    /// What comes back for a datagram to a port of 127.0.0.1 within so many seconds. It may
    /// be lost on the way, so that it is sent again each second.
    pub async fn asks(&self, port: u16, payload: &[u8], seconds: usize) -> Option<Vec<u8>> {
        let mut buffer = [0; 2048];
        for _ in 0..seconds {
            self.sends(port, payload).await;
            let received = timeout(Duration::from_secs(1), self.0.recv(&mut buffer)).await;
            if let Ok(Ok(length)) = received {
                return buffer.get(10..length).map(<[u8]>::to_vec);
            }
        }
        None
    }

    /// Fails unless a datagram comes back from a port of 127.0.0.1.
    ///
    /// # Panics
    /// When another comes back, or none.
    pub async fn echoes(&self, port: u16, payload: &[u8]) {
        let answer = self.asks(port, payload, 60).await;
        assert_eq!(answer.as_deref(), Some(payload));
    }
}
