//! A listening socket and the connections that come in by it, whatever happens. It must
//! not know what is spoken on one.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol as Transport, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tracing::warn;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;

/// The first pause after an error of accepting, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Listens on an address; gives it with the port that was chosen, if it was 0. To be called
/// within a tokio runtime.
pub(crate) fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = match bound(address) {
        // On a host without IPv6, all addresses are those of IPv4.
        Err(_) if address.ip().is_unspecified() && address.is_ipv6() => bound(SocketAddr::new(
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            address.port(),
        ))?,
        socket => socket?,
    };
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    let listener = TcpListener::from_std(socket.into())?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

fn bound(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Transport::TCP),
    )?;
    // Elsewhere than on Unix this would let another program take the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    if address.ip().is_unspecified() && address.is_ipv6() {
        // `::` means every address, those of IPv4 too.
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Connections, one after the other, whatever happens.
pub(crate) struct Incoming {
    listener: TcpListener,
    /// Who listens, as a person reads it.
    name: String,
    /// How long to wait after the next error; none after a success.
    pause: Option<Duration>,
}

impl Incoming {
    pub(crate) fn over(listener: TcpListener, name: String) -> Self {
        Self {
            listener,
            name,
            pause: None,
        }
    }

    /// May be dropped at any moment. A pause is cut short by that, which is right: it
    /// happens when a connection has ended, so that its descriptor is free.
    pub(crate) async fn next(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, source)) => {
                    self.pause = None;
                    // A client of IPv4 at a socket of IPv6 is a client of IPv4.
                    let source = SocketAddr::new(source.ip().to_canonical(), source.port());
                    return (stream, source);
                }
                Err(error) if of_the_client(&error) => {}
                Err(error) => self.rest(&error).await,
            }
        }
    }

    /// Out of descriptors or memory: the connection waits on, and so do we.
    async fn rest(&mut self, error: &io::Error) {
        let pause = match self.pause {
            None => {
                let name = &self.name;
                warn!("{name} cannot accept connections for now: {error}");
                PAUSES.0
            }
            Some(pause) => pause,
        };
        self.pause = Some((pause * 2).min(PAUSES.1));
        tokio::time::sleep(pause).await;
    }
}

/// Whether an error of accepting is about that one client, who left.
fn of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn errors_in_a_row_are_answered_by_longer_pauses_up_to_a_second() {
        let (listener, _) = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let mut incoming = Incoming::over(listener, "the inbound `in`".to_owned());
        let exhausted = io::Error::other("too many open files");
        let mut pauses = Vec::new();
        for _ in 0..9 {
            let start = Instant::now();
            incoming.rest(&exhausted).await;
            pauses.push(start.elapsed().as_millis());
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    }
}
