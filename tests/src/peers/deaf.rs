//! A port that answers nobody, as a host behind a firewall that drops everything. It
//! must not know who tries.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};

use super::background::Background;

/// How many connections wait to be accepted before the system drops the next.
const QUEUE: u32 = 1;

/// A connection on loopback that takes longer was dropped.
const SURELY_DROPPED: Duration = Duration::from_millis(500);

/// A listener whose queue is full and never emptied: to connect takes for ever.
#[derive(Debug)]
pub struct Deaf {
    port: u16,
    _queue: Vec<TcpStream>,
    _listener: TcpListener,
    _runtime: Background,
}

impl Deaf {
    /// Fills the queue.
    ///
    /// # Panics
    /// When the system accepts without end.
    pub fn start() -> Self {
        let runtime = Background::start();
        let listener = {
            let _inside = runtime.enter();
            let socket = TcpSocket::new_v4().expect("a socket");
            socket
                .bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
                .expect("a free port");
            socket.listen(QUEUE).expect("a listener")
        };
        let address = listener.local_addr().expect("a bound listener");
        let queue: Vec<TcpStream> = (0..64)
            .map_while(|_| TcpStream::connect_timeout(&address, SURELY_DROPPED).ok())
            .collect();
        assert!(queue.len() < 64, "the system queues without end");
        Self {
            port: address.port(),
            _queue: queue,
            _listener: listener,
            _runtime: runtime,
        }
    }

    /// Where nobody is heard on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }
}
