//! A port that the operating system chose and nobody else gets. It must not know who
//! will listen on it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

/// A TCP port of 127.0.0.1, bound but not listened on: connecting to it is refused
/// until a server that sets `SO_REUSEADDR`, as all do, takes it. It stays reserved
/// for as long as this lives, so no two servers ever race for one port.
#[derive(Debug)]
pub struct Port {
    _reservation: TcpSocket,
    number: u16,
}

impl Port {
    /// A port that nothing listens on.
    ///
    /// # Panics
    /// When the system has none left.
    pub fn reserve() -> Self {
        Self::try_reserve().expect("a free port on 127.0.0.1")
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }

    fn try_reserve() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Ok(Self {
            number: socket.local_addr()?.port(),
            _reservation: socket,
        })
    }
}
