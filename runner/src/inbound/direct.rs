//! Straight out of this host, without any outbound: streams and datagrams by the
//! system's sockets and resolver. It must not know who sends what.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::net::{TcpStream, UdpSocket, lookup_host};
use tokio::time::timeout;

use super::{Client, Datagrams, Upstream};
use crate::fetch::of_io;
use crate::proxy_core::{Cause, FetchError, Host, Io, Phase, Target};

/// How long a connection may take to open, and a name to resolve.
const TIMEOUT: Duration = Duration::from_secs(15);

/// How many names an association remembers; a client that sends to more has them
/// resolved again.
const NAMES: usize = 256;

/// Sends every connection and datagram straight to its target.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

#[async_trait]
impl Upstream for Direct {
    async fn connect(&self, _: &Client, target: &Target) -> Result<Box<dyn Io>, FetchError> {
        let ips = match &target.host {
            Host::Ip(ip) => vec![*ip],
            Host::Name(name) => resolve(name).await?,
        };
        let addresses: Vec<_> = ips.iter().map(|ip| (*ip, target.port).into()).collect();
        let connect = async {
            let stream = TcpStream::connect(&addresses[..]).await?;
            stream.set_nodelay(true).map(|()| stream)
        };
        let connected = timeout(TIMEOUT, connect).await;
        let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        match connected {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(of_io(Phase::Dial, &target.to_string(), &error)),
        }
    }

    async fn associate(&self, _: &Client) -> Result<Box<dyn Datagrams>, FetchError> {
        Ok(Box::new(DirectDatagrams::open().await?))
    }
}

/// Datagrams by sockets of this host: one for each address family that it has.
#[derive(Debug)]
pub struct DirectDatagrams {
    v4: UdpSocket,
    v6: Option<UdpSocket>,
    /// What names resolved to, so that all datagrams to one go to one address.
    names: Mutex<HashMap<String, IpAddr>>,
}

impl DirectDatagrams {
    /// Opens the sockets.
    ///
    /// # Errors
    /// When the system has none left.
    pub async fn open() -> Result<Self, FetchError> {
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await;
        Ok(Self {
            v4: v4.map_err(|error| of_io(Phase::Dial, "a socket of this host", &error))?,
            // A host without IPv6 cannot even make the socket.
            v6: UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await.ok(),
            names: Mutex::default(),
        })
    }

    async fn address(&self, target: &Target) -> Result<SocketAddr, FetchError> {
        let name = match &target.host {
            Host::Ip(ip) => return Ok(SocketAddr::new(*ip, target.port)),
            Host::Name(name) => name,
        };
        let known = |names: &HashMap<String, IpAddr>| names.get(name).copied();
        let lock = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ip) = known(&lock()) {
            return Ok(SocketAddr::new(ip, target.port));
        }
        let ips = resolve(name).await?;
        let ip = ips.into_iter().find(|ip| ip.is_ipv4() || self.v6.is_some());
        let ip = ip.ok_or_else(|| {
            let text = format!("`{name}` has IPv6 addresses alone, and this host has none");
            FetchError::new(Phase::Dial, Cause::NoRoute, text)
        })?;
        let mut names = lock();
        if names.len() >= NAMES {
            names.clear();
        }
        names.insert(name.clone(), ip);
        Ok(SocketAddr::new(ip, target.port))
    }
}

#[async_trait]
impl Datagrams for DirectDatagrams {
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        let address = self.address(target).await?;
        let socket = match (address, &self.v6) {
            (SocketAddr::V4(_), _) => &self.v4,
            (SocketAddr::V6(_), Some(v6)) => v6,
            (SocketAddr::V6(_), None) => {
                let text = format!("this host has no IPv6 to reach {target} by");
                return Err(FetchError::new(Phase::Dial, Cause::NoRoute, text));
            }
        };
        match socket.send_to(payload, address).await {
            Ok(_) => Ok(()),
            Err(error) => Err(of_io(Phase::Dial, &target.to_string(), &error)),
        }
    }

    async fn receive(&self, buffer: &mut [u8]) -> Result<(usize, Target), FetchError> {
        loop {
            let received = match &self.v6 {
                None => self.v4.recv_from(buffer).await,
                Some(v6) => {
                    // Two reads cannot share the buffer, but waiting needs none.
                    let socket = tokio::select! {
                        ready = self.v4.readable() => ready.map(|()| &self.v4),
                        ready = v6.readable() => ready.map(|()| v6),
                    };
                    socket.and_then(|socket| socket.try_recv_from(buffer))
                }
            };
            match received {
                Ok((length, from)) => {
                    let target = Target {
                        host: Host::Ip(from.ip()),
                        port: from.port(),
                        family: None,
                    };
                    return Ok((length, target));
                }
                Err(error) if passes(&error) => {}
                Err(error) => return Err(of_io(Phase::Dial, "a socket of this host", &error)),
            }
        }
    }
}

/// Every address of `name`, by the system's resolver.
async fn resolve(name: &str) -> Result<Vec<IpAddr>, FetchError> {
    let failed = |cause, why: String| {
        let text = format!("`{name}` {why}");
        Err(FetchError::new(Phase::Dial, cause, text))
    };
    match timeout(TIMEOUT, lookup_host((name, 0))).await {
        Ok(Ok(found)) => Ok(found.map(|address| address.ip()).collect()),
        Ok(Err(error)) => failed(Cause::DnsFailed, format!("does not resolve ({error})")),
        Err(_) => failed(Cause::DnsTimeout, "does not resolve in time".to_owned()),
    }
}

/// Whether an error of one datagram says nothing of the next: nothing was there after
/// all, or a target refused an earlier one.
pub(super) fn passes(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}
