//! Packets to one server and from it: by a socket of our own, or through another
//! outbound. It must not know what the packets hold.

use std::io;

use tokio::net::UdpSocket;

use crate::fetch::of_io;
use crate::proxy_core::{Datagrams, FetchError, Host, Phase, Target};
use crate::udp;

/// See the module.
pub(crate) struct Link {
    server: Target,
    wire: Wire,
}

enum Wire {
    /// Connected to the server.
    Socket(UdpSocket),
    Through(Box<dyn Datagrams>),
}

impl Link {
    /// By a socket that is connected to `server`.
    pub(crate) fn of_socket(socket: UdpSocket, server: Target) -> Self {
        let wire = Wire::Socket(socket);
        Self { server, wire }
    }

    /// Through another outbound.
    pub(crate) fn through(datagrams: Box<dyn Datagrams>, server: Target) -> Self {
        let wire = Wire::Through(datagrams);
        Self { server, wire }
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

    /// Waits for a packet. Dropping the future loses none.
    ///
    /// # Errors
    /// No packet comes any more: nobody is there, or the way is closed.
    pub(crate) async fn receive(&self) -> Result<Vec<u8>, FetchError> {
        match &self.wire {
            Wire::Socket(socket) => {
                let received = udp::receive(socket).await;
                let (packet, _) = received.map_err(|error| self.failure(&error))?;
                Ok(packet)
            }
            Wire::Through(datagrams) => loop {
                let (packet, from) = datagrams.receive().await?;
                if self.is_the_server(&from) {
                    return Ok(packet);
                }
            },
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
