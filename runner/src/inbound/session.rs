//! One connection of a client: which protocol it speaks, and how long it may take to
//! say what it wants. It must not know what the protocols say.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::debug;

use super::options::{Inbound, Protocol};
use super::users::Users;
use super::{Client, Upstream, http, socks};
use crate::proxy_core::Host;

/// How long a client may take to say what it wants: on a new connection, and for a
/// plain HTTP request from the end of the one before.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);

/// More than the longest handshake of SOCKS takes in one piece.
const READ_AHEAD: usize = 1024;

/// How long, and how much, a client that was refused may go on sending before it is cut.
const FAREWELL: (Duration, u64) = (Duration::from_secs(1), 64 * 1024);

/// A client's stream. What was read ahead to tell the protocols apart is not lost;
/// longer reads go straight to the socket.
pub(super) type ClientStream = BufReader<TcpStream>;

/// What all connections of one inbound share.
pub(super) struct Door {
    pub(super) tag: Arc<str>,
    pub(super) users: Users,
    pub(super) upstream: Arc<dyn Upstream>,
    pub(super) udp_timeout: Duration,
    protocol: Protocol,
}

impl Door {
    pub(super) fn new(inbound: Inbound, upstream: Arc<dyn Upstream>) -> Self {
        Self {
            tag: inbound.tag,
            users: inbound.users,
            upstream,
            udp_timeout: inbound.udp_timeout,
            protocol: inbound.protocol,
        }
    }

    pub(super) fn client(&self, source: SocketAddr, user: Option<Arc<str>>) -> Client {
        Client {
            inbound: Arc::clone(&self.tag),
            source,
            user,
        }
    }
}

/// Serves one connection until it ends.
pub(super) async fn serve(door: Arc<Door>, stream: TcpStream, source: SocketAddr) {
    let tag = Arc::clone(&door.tag);
    if let Err(error) = speak(door, stream, source).await {
        debug!("inbound `{tag}`, connection from {source}: {error}");
    }
}

async fn speak(door: Arc<Door>, stream: TcpStream, source: SocketAddr) -> io::Result<()> {
    let deadline = Instant::now() + HANDSHAKE;
    let mut stream = BufReader::with_capacity(READ_AHEAD, stream);
    let first = timeout_at(deadline, stream.fill_buf()).await??;
    let Some(first) = first.first().copied() else {
        return Ok(());
    };
    match (door.protocol, first) {
        (Protocol::Mixed | Protocol::Socks, 4 | 5) => {
            // Its state is large, and of no use to those who speak HTTP.
            Box::pin(socks::serve(&door, stream, source, deadline)).await
        }
        (Protocol::Mixed | Protocol::Http, _) => Box::pin(http::serve(door, stream, source)).await,
        (Protocol::Socks, _) => Err(io::Error::other("it does not speak SOCKS")),
    }
}

/// Closes a stream whose client was just told something. To close while it still sends
/// would reset the connection, and what it was told could be lost.
pub(super) async fn farewell(stream: &mut ClientStream) -> io::Result<()> {
    stream.shutdown().await?;
    let (limit, most) = FAREWELL;
    let mut rest = stream.take(most);
    let _ = timeout(limit, read_to_the_end(&mut rest)).await;
    Ok(())
}

/// Reads and forgets.
pub(super) async fn read_to_the_end(stream: &mut (impl AsyncRead + Unpin)) {
    let mut ignored = [0; 512];
    while matches!(stream.read(&mut ignored).await, Ok(1..)) {}
}

/// A host that a client asks for; none if it is no name and no address.
pub(super) fn host(text: &str) -> Option<Host> {
    crate::core::options::parse_host(text)
}
