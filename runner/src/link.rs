//! Packets to one server and from it: by a socket of our own, or through another
//! outbound. It must not know what the packets hold.

use std::io;

use tokio::net::UdpSocket;
use tokio::sync::Mutex;

use crate::fetch::of_io;
use crate::proxy_core::{Datagrams, FetchError, Host, Phase, Target};

/// No packet is longer.
const LONGEST: usize = 64 * 1024;

/// See the module.
pub(crate) struct Link {
    server: Target,
    wire: Wire,
    /// What was received; from its start on, aligned as any memory of that size.
    packet: Mutex<Vec<u8>>,
}

enum Wire {
    /// Connected to the server.
    Socket(UdpSocket),
    Through(Box<dyn Datagrams>),
}

impl Link {
    /// By a socket that is connected to `server`.
    pub(crate) fn of_socket(socket: UdpSocket, server: Target) -> Self {
        Self::new(server, Wire::Socket(socket))
    }

    /// Through another outbound.
    pub(crate) fn through(datagrams: Box<dyn Datagrams>, server: Target) -> Self {
        Self::new(server, Wire::Through(datagrams))
    }

    fn new(server: Target, wire: Wire) -> Self {
        Self {
            server,
            wire,
            packet: Mutex::new(vec![0; LONGEST]),
        }
    }

    /// Sends one packet.
    ///
    /// # Errors
    /// This one is lost.
    pub(crate) async fn send(&self, packet: &[u8]) -> Result<(), FetchError> {
        match &self.wire {
            Wire::Through(datagrams) => datagrams.send(packet, &self.server).await,
            Wire::Socket(socket) => match socket.send(packet).await {
                Ok(_) => Ok(()),
                Err(error) => Err(self.failure(&error)),
            },
        }
    }

    /// Waits for a packet in which `open` finds something. Others are dropped.
    ///
    /// # Errors
    /// No packet comes any more: nobody is there, or the way is closed.
    pub(crate) async fn receive<T>(
        &self,
        mut open: impl FnMut(&mut [u8]) -> Option<T> + Send,
    ) -> Result<T, FetchError> {
        let mut packet = self.packet.lock().await;
        loop {
            let length = match &self.wire {
                Wire::Socket(socket) => {
                    let received = socket.recv(&mut packet).await;
                    received.map_err(|error| self.failure(&error))?
                }
                Wire::Through(datagrams) => {
                    let (length, from) = datagrams.receive(&mut packet).await?;
                    if !self.is_the_server(&from) {
                        continue;
                    }
                    length
                }
            };
            if let Some(found) = packet.get_mut(..length).and_then(&mut open) {
                return Ok(found);
            }
        }
    }

    /// What address a name has, only the outbound knows that it went through.
    fn is_the_server(&self, from: &Target) -> bool {
        let known = matches!(self.server.host, Host::Ip(_));
        from.port == self.server.port && (!known || from.host == self.server.host)
    }

    fn failure(&self, error: &io::Error) -> FetchError {
        of_io(Phase::Dial, &self.server.to_string(), error)
    }
}

/// Whether an error of one datagram to or from anybody says nothing of the next: nothing
/// was there after all, or a target refused an earlier one.
pub(crate) fn passes(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}
