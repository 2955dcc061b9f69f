//! Our own sockets for datagrams, made as the dial fields of an outbound say. It must not
//! know what the datagrams hold.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::{Dialer, no_ipv6, refused};
use crate::core::eyeballs::Preference;
use crate::core::progress::Progress;
use crate::core::resolve::Resolver;
use crate::fetch::of_io;
use crate::link::Link;
use crate::proxy_core::{Cause, Datagrams, Family, FetchError, Host, Phase, Target};
use crate::udp;

/// How long the name of one datagram's target may take to resolve.
const RESOLVES_WITHIN: Duration = Duration::from_secs(10);

/// How many names are remembered; what is sent to more has them resolved again.
const NAMES: usize = 256;

/// Who fails where a socket itself does.
const OURS: &str = "a socket of this host";

impl Dialer {
    /// Sockets that send to any target.
    ///
    /// # Errors
    /// When the system has none, or not as the fields say.
    pub(in crate::core) fn sockets(
        &self,
        resolver: Arc<dyn Resolver>,
    ) -> Result<Sockets, FetchError> {
        let open = |family| {
            let socket = self.udp(family);
            socket.map_err(|error| of_io(Phase::Dial, OURS, &error))
        };
        let (v4, v6) = (open(Family::V4), open(Family::V6));
        // A host may do without one of them.
        let needed = match self.preference {
            Preference::OnlyV6 => &v6,
            _ => &v4,
        };
        if let Err(error) = needed {
            return Err(error.clone());
        }
        Ok(Sockets {
            v4,
            v6,
            dialer: self.clone(),
            resolver,
            names: Mutex::default(),
        })
    }

    /// A link to `server`, its name resolved here.
    pub(in crate::core) async fn link(
        &self,
        resolver: &dyn Resolver,
        server: &Target,
        progress: &mut Progress,
    ) -> Result<Link, FetchError> {
        let mut failures = Vec::new();
        for address in self.addresses(resolver, server, progress).await? {
            match self.connected(address).await {
                Ok(socket) => return Ok(Link::of_socket(socket, address.into())),
                Err(error) => failures.push((address, error)),
            }
        }
        Err(refused(server, &failures))
    }

    /// Nothing is sent by it, but the system knows whether there is a route.
    async fn connected(&self, address: SocketAddr) -> io::Result<UdpSocket> {
        let socket = self.udp(match address {
            SocketAddr::V4(_) => Family::V4,
            SocketAddr::V6(_) => Family::V6,
        })?;
        socket.connect(address).await?;
        Ok(socket)
    }

    fn udp(&self, family: Family) -> io::Result<UdpSocket> {
        let (domain, any): (_, IpAddr) = match family {
            Family::V4 => (Domain::IPV4, Ipv4Addr::UNSPECIFIED.into()),
            Family::V6 => (Domain::IPV6, Ipv6Addr::UNSPECIFIED.into()),
        };
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP));
        let socket = match family {
            Family::V4 => socket?,
            Family::V6 => socket.map_err(no_ipv6)?,
        };
        if family == Family::V6 {
            socket.set_only_v6(true)?;
        }
        socket.set_nonblocking(true)?;
        self.prepare(&SockRef::from(&socket), family, Some(any))?;
        UdpSocket::from_std(socket.into())
    }
}

/// One socket for each address family.
pub(in crate::core) struct Sockets {
    v4: Result<UdpSocket, FetchError>,
    v6: Result<UdpSocket, FetchError>,
    dialer: Dialer,
    resolver: Arc<dyn Resolver>,
    /// What names resolved to, so that all datagrams to one go to one address.
    names: Mutex<HashMap<Host, IpAddr>>,
}

impl Sockets {
    fn of(&self, address: SocketAddr) -> Result<&UdpSocket, FetchError> {
        match address {
            SocketAddr::V4(_) => self.v4.as_ref(),
            SocketAddr::V6(_) => self.v6.as_ref(),
        }
        .map_err(Clone::clone)
    }

    async fn address(&self, target: &Target) -> Result<SocketAddr, FetchError> {
        let names = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names().get(&target.host).copied();
        if let Some(ip) = known {
            return Ok(SocketAddr::new(ip, target.port));
        }
        let mut progress = Progress::new();
        let found = self
            .dialer
            .addresses(&*self.resolver, target, &mut progress);
        let Ok(found) = timeout(RESOLVES_WITHIN, found).await else {
            return Err(progress.late());
        };
        let mut usable = found?
            .into_iter()
            .filter(|address| self.of(*address).is_ok());
        let address = usable.next().ok_or_else(|| {
            let text = format!("this host has no address to reach {target} from");
            FetchError::new(Phase::Dial, Cause::NoRoute, text)
        })?;
        if matches!(target.host, Host::Name(_)) {
            let mut names = names();
            if names.len() >= NAMES {
                names.clear();
            }
            names.insert(target.host.clone(), address.ip());
        }
        Ok(address)
    }

    /// Waits for a datagram to any of them.
    async fn next(&self) -> io::Result<(Vec<u8>, SocketAddr)> {
        match (&self.v4, &self.v6) {
            (Ok(v4), Ok(v6)) => tokio::select! {
                received = udp::receive(v4) => received,
                received = udp::receive(v6) => received,
            },
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => udp::receive(one).await,
            (Err(_), Err(_)) => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

#[async_trait]
impl Datagrams for Sockets {
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        let address = self.address(target).await?;
        match self.of(address)?.send_to(payload, address).await {
            Ok(_) => Ok(()),
            Err(error) => Err(of_io(Phase::Dial, &target.to_string(), &error)),
        }
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        loop {
            match self.next().await {
                Ok((payload, from)) => return Ok((payload, from.into())),
                Err(error) if udp::passes(&error) => {}
                Err(error) => return Err(of_io(Phase::Dial, OURS, &error)),
            }
        }
    }
}
