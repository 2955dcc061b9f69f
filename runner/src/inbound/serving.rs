//! An open inbound: it accepts connections, owns them, and ends them. It must not know
//! what is spoken on one.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol as Transport, Socket, TcpKeepalive, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tracing::{debug, warn};

use super::Upstream;
use super::options::Inbound;
use super::session::{self, Door};

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;

/// The first pause after an error of accepting, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// An inbound cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("the inbound `{tag}` cannot listen on {address}: {source}")]
#[non_exhaustive]
pub struct ListenError {
    /// The inbound's tag.
    pub tag: String,
    /// Where it was to listen.
    pub address: SocketAddr,
    /// Why it cannot, in the system's words.
    pub source: io::Error,
}

/// An inbound that accepts connections. When dropped, it and all of its connections end
/// at once.
#[derive(Debug)]
pub struct Serving {
    tag: Arc<str>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    accepting: JoinHandle<()>,
}

impl Inbound {
    /// Listens, and hands every connection on to `upstream`. To be called within a tokio
    /// runtime, which does the work.
    ///
    /// # Errors
    /// When the address is taken or is none of this host.
    pub fn serve(self, upstream: Arc<dyn Upstream>) -> Result<Serving, ListenError> {
        let listener = listen(self.listen).map_err(|source| ListenError {
            tag: self.tag.to_string(),
            address: self.listen,
            source,
        });
        let (listener, address) = listener?;
        let (stop, stopped) = oneshot::channel();
        let tag = Arc::clone(&self.tag);
        let accepting = tokio::spawn(accept(listener, self, upstream, stopped));
        Ok(Serving {
            tag,
            address,
            stop: Some(stop),
            accepting,
        })
    }
}

impl Serving {
    /// The inbound's tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Where it listens; with the port that was chosen, if it was 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more connections, ends those that are open, and returns when nothing
    /// of them is left.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            // Whoever has ended needs no word.
            let _ = stop.send(());
        }
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
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

/// Accepts until told to stop, then ends what is open.
async fn accept(
    listener: TcpListener,
    inbound: Inbound,
    upstream: Arc<dyn Upstream>,
    mut stopped: oneshot::Receiver<()>,
) {
    let keep_alive = inbound.keep_alive.map(|keep_alive| {
        TcpKeepalive::new()
            .with_time(keep_alive.after)
            .with_interval(keep_alive.interval)
    });
    let tag = Arc::clone(&inbound.tag);
    let door = Arc::new(Door::new(inbound, upstream));
    let mut incoming = Incoming {
        listener,
        tag,
        pause: None,
    };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = &mut stopped => break,
            Some(_) = connections.join_next() => {}
            (stream, source) = incoming.next() => {
                if let Err(error) = prepare(&stream, keep_alive.as_ref()) {
                    debug!("a connection from {source} was gone at once: {error}");
                    continue;
                }
                connections.spawn(session::serve(Arc::clone(&door), stream, source));
            }
        }
    }
    drop(incoming);
    connections.shutdown().await;
}

fn prepare(stream: &TcpStream, keep_alive: Option<&TcpKeepalive>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match keep_alive {
        Some(keep_alive) => socket2::SockRef::from(stream).set_tcp_keepalive(keep_alive),
        None => Ok(()),
    }
}

/// Connections, one after the other, whatever happens.
struct Incoming {
    listener: TcpListener,
    tag: Arc<str>,
    /// How long to wait after the next error; none after a success.
    pause: Option<Duration>,
}

impl Incoming {
    /// May be dropped at any moment. A pause is cut short by that, which is right: it
    /// happens when a connection has ended, so that its descriptor is free.
    async fn next(&mut self) -> (TcpStream, SocketAddr) {
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
                let tag = &self.tag;
                warn!("the inbound `{tag}` cannot accept connections for now: {error}");
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
        let mut incoming = Incoming {
            listener,
            tag: "in".into(),
            pause: None,
        };
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
