//! A way for datagrams through sing-box. It must not know how sing-box is kept running.

use std::net::Ipv4Addr;
use std::sync::OnceLock;

use async_trait::async_trait;
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

use super::attempt::{Attempt, Attempts, Fault, lost};
use super::carriage::has_one_target;
use super::state::Shared;
use crate::link::Link;
use crate::proxy_core::{Cause, Datagrams, FetchError, Host, Network, Target, another_target};
use crate::socks::association::{self, Association};

/// Opens a way. sing-box itself opens one when the first datagram is sent: what fails then
/// shows when it is received from.
pub(super) async fn associate(
    shared: &Shared,
    tag: &str,
    deadline: Instant,
) -> Result<Box<dyn Datagrams>, FetchError> {
    let what = "the way for datagrams".to_owned();
    let mut attempts = Attempts::new(shared, tag, Network::Udp, what)?;
    loop {
        let attempt = attempts.next(deadline).await?;
        match timeout_at(deadline, open(&attempt, deadline)).await {
            Ok(Ok((way, port))) => {
                let only = has_one_target(attempt.entry()).then(OnceLock::new);
                return Ok(Box::new(Way {
                    way,
                    port,
                    attempt,
                    only,
                }));
            }
            Ok(Err(fault)) => attempts.failed(attempt, fault).await?,
            Err(_) => return Err(attempt.late()),
        }
    }
}

async fn open(attempt: &Attempt, deadline: Instant) -> Result<(Association, u16), Fault> {
    let (mut stream, port) = attempt.connect().await?;
    let live = &attempt.live;
    let (server, login) = (Host::Ip(live.socks.ip()), (&*attempt.user, &*live.password));
    let relay = match association::ask(&mut stream, &server, Some(login)).await {
        Ok(relay) => relay,
        Err(error) => return Err(attempt.refused(port, error, deadline).await),
    };
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .map_err(|error| lost(&error))?;
    let connected = socket.connect((relay.host.to_string(), relay.port)).await;
    connected.map_err(|error| lost(&error))?;
    let link = Link::of_socket(socket, relay);
    let association = Association::new("sing-box".to_owned(), Box::new(stream), link);
    Ok((association, port))
}

/// An association that says in sing-box's words why it has ended.
struct Way {
    way: Association,
    attempt: Attempt,
    /// Of the stream that it lasts as long as.
    port: u16,
    /// The only target, where there is one: what is sent to another would go there too.
    only: Option<OnceLock<Target>>,
}

#[async_trait]
impl Datagrams for Way {
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        if let Some(only) = &self.only
            && only.get_or_init(|| target.clone()) != target
        {
            return Err(another_target());
        }
        self.way.send(payload, target).await
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        match self.way.receive().await {
            Ok(received) => {
                self.attempt.works();
                Ok(received)
            }
            Err(error) if matches!(error.cause, Cause::Eof | Cause::Reset) => {
                Err(self.attempt.broken(self.port).await.unwrap_or(error))
            }
            Err(error) => Err(error),
        }
    }
}
