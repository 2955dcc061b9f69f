//! UDP of SOCKS 5: one association of a client, from its start to its end. It must not
//! know how datagrams reach their targets.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use super::{Version, refuse, v5};
use crate::inbound::Client;
use crate::inbound::refusal::{COMMAND_NOT_SUPPORTED, GENERAL_FAILURE, Refusal};
use crate::inbound::session::{ClientStream, Door, read_to_the_end};
use crate::proxy_core::{Cause, Datagrams};
use crate::socks::datagram;
use crate::udp;

/// Serves an association. It ends with the stream that it was asked for on, after
/// `udp_timeout` without a datagram, and when the upstream ends.
pub(super) async fn serve(door: &Door, mut stream: ClientStream, client: Client) -> io::Result<()> {
    let datagrams = match door.upstream.associate(&client).await {
        Ok(datagrams) => datagrams,
        Err(error) => {
            let code = match error.cause {
                Cause::Unsupported => COMMAND_NOT_SUPPORTED,
                _ => Refusal::from(&error).socks,
            };
            refuse(stream, Version::V5, code).await?;
            return Err(io::Error::other(error));
        }
    };
    let socket = match open(&stream).await {
        Ok(socket) => socket,
        Err(error) => {
            refuse(stream, Version::V5, GENERAL_FAILURE).await?;
            return Err(error);
        }
    };
    let bound = socket.local_addr()?;
    let bound = SocketAddr::new(bound.ip().to_canonical(), bound.port());
    stream
        .write_all(&v5::reply(v5::SUCCEEDED, Some(bound)))
        .await?;
    let association = Association {
        socket,
        datagrams,
        client,
        sender: OnceLock::new(),
        active: Mutex::new(Instant::now()),
    };
    tokio::select! {
        () = read_to_the_end(&mut stream) => Ok(()),
        () = association.idle(door.udp_timeout) => Ok(()),
        ended = association.up() => ended,
        ended = association.down() => ended,
    }
}

/// A socket at the address that the client has reached us by.
async fn open(stream: &ClientStream) -> io::Result<UdpSocket> {
    let local = stream.get_ref().local_addr()?;
    UdpSocket::bind((local.ip(), 0)).await
}

struct Association {
    socket: UdpSocket,
    datagrams: Box<dyn Datagrams>,
    client: Client,
    /// Where the client sends from: the first that sends from its host. What comes from
    /// anybody else is dropped.
    sender: OnceLock<SocketAddr>,
    active: Mutex<Instant>,
}

impl Association {
    /// Passes datagrams of the client on.
    async fn up(&self) -> io::Result<()> {
        loop {
            let (datagram, from) = match udp::receive(&self.socket).await {
                Ok(received) => received,
                Err(error) if udp::passes(&error) => continue,
                Err(error) => return Err(error),
            };
            if !self.is_the_client(from) {
                continue;
            }
            let Some((target, payload)) = datagram::unwrap(&datagram) else {
                continue;
            };
            self.touch();
            if let Err(error) = self.datagrams.send(payload, &target).await {
                let source = self.client.source;
                debug!("a datagram of {source} to {target} is lost: {error}");
            }
        }
    }

    /// Passes datagrams to the client on.
    async fn down(&self) -> io::Result<()> {
        loop {
            let received = self.datagrams.receive().await;
            let (payload, from) = received.map_err(io::Error::other)?;
            let Some(client) = self.sender.get() else {
                continue;
            };
            self.touch();
            let sent = match datagram::wrap(&payload, &from) {
                Ok(packet) => self.socket.send_to(&packet, client).await,
                Err(error) => Err(io::Error::other(error)),
            };
            if let Err(error) = sent {
                // It may be too long with the address before it. The next may not be.
                debug!("a datagram of {from} to {client} is lost: {error}");
            }
        }
    }

    /// Waits until nothing was passed on for so long.
    async fn idle(&self, limit: Duration) {
        loop {
            let end = self.active() + limit;
            if end <= Instant::now() {
                return;
            }
            sleep_until(end).await;
        }
    }

    fn is_the_client(&self, from: SocketAddr) -> bool {
        let from_its_host = from.ip().to_canonical() == self.client.source.ip();
        from_its_host && *self.sender.get_or_init(|| from) == from
    }

    fn active(&self) -> Instant {
        *self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        *self.active.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}
