//! Our own sockets: a TCP connection, made as the dial fields of an outbound say.
//! It must not know what the connection is for.

mod fields;
mod udp;

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpSocket, TcpStream};

use super::eyeballs::{Preference, STAGGER, interleave, race};
use super::options::{ELSEWHERE, Reader};
use super::progress::Progress;
use super::resolve::{Resolver, is_of, resolve};
use crate::fetch::of_io;
use crate::proxy_core::{Cause, Family, FetchError, Host, Phase, Target};

pub(super) use self::fields::DialFields;

/// Opens sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Dialer {
    interface: Option<String>,
    mark: Option<u32>,
    bind_v4: Option<Ipv4Addr>,
    bind_v6: Option<Ipv6Addr>,
    connect_timeout: Option<Duration>,
    preference: Preference,
    stagger: Option<Duration>,
}

impl Dialer {
    /// What the dial fields of one outbound ask for.
    pub(super) fn new(fields: DialFields, reader: &mut Reader<'_>) -> Self {
        let preference = fields.preference();
        let interface = fields.bind_interface.filter(|name| !name.is_empty());
        if fields.netns.is_some_and(|name| !name.is_empty()) {
            reader.unsupported(format!(
                "its `netns` is not entered by the built-in core; {ELSEWHERE}"
            ));
        }
        if interface.is_some() && !cfg!(target_os = "linux") {
            reader.unsupported(format!(
                "its `bind_interface` works on Linux only in the built-in core; {ELSEWHERE}"
            ));
        }
        if fields.routing_mark.is_some() && !cfg!(target_os = "linux") {
            reader.unsupported("its `routing_mark` is a thing of Linux; remove it");
        }
        Self {
            interface,
            mark: fields.routing_mark,
            bind_v4: fields.inet4_bind_address,
            bind_v6: fields.inet6_bind_address,
            connect_timeout: fields.connect_timeout,
            preference,
            stagger: fields.fallback_delay,
        }
    }

    /// Connects to `target`, its name resolved here.
    pub(super) async fn connect(
        &self,
        resolver: &dyn Resolver,
        target: &Target,
        progress: &mut Progress,
    ) -> Result<TcpStream, FetchError> {
        let addresses = self.addresses(resolver, target, progress).await?;
        progress.connecting(target);
        let stagger = self.stagger.unwrap_or(STAGGER);
        let race = race(addresses, stagger, |address| self.open(address));
        let Some(limit) = self.connect_timeout else {
            return race.await.map_err(|failures| refused(target, &failures));
        };
        match tokio::time::timeout(limit, race).await {
            Ok(result) => result.map_err(|failures| refused(target, &failures)),
            Err(_) => {
                let text = format!(
                    "the connection to {target} did not open within its connect_timeout of {}",
                    humantime::format_duration(limit)
                );
                Err(FetchError::new(Phase::Dial, Cause::DialTimeout, text))
            }
        }
    }

    async fn addresses(
        &self,
        resolver: &dyn Resolver,
        target: &Target,
        progress: &mut Progress,
    ) -> Result<Vec<SocketAddr>, FetchError> {
        let ips = match &target.host {
            Host::Ip(ip) if is_of(*ip, target.family) => {
                return Ok(vec![SocketAddr::new(*ip, target.port)]);
            }
            Host::Ip(ip) => {
                let text = format!("{ip} is not of the address family asked for");
                return Err(FetchError::new(Phase::Dial, Cause::NoRoute, text));
            }
            Host::Name(name) => {
                let family = match self.preference {
                    Preference::OnlyV4 => target.family.or(Some(Family::V4)),
                    Preference::OnlyV6 => target.family.or(Some(Family::V6)),
                    _ => target.family,
                };
                resolve(resolver, name, family, progress).await?
            }
        };
        let addresses = ips
            .into_iter()
            .map(|ip| SocketAddr::new(ip, target.port))
            .collect();
        Ok(interleave(addresses, self.preference))
    }

    async fn open(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let (socket, family) = match address {
            SocketAddr::V4(_) => (TcpSocket::new_v4()?, Family::V4),
            SocketAddr::V6(_) => (TcpSocket::new_v6().map_err(no_ipv6)?, Family::V6),
        };
        self.prepare(&SockRef::from(&socket), family, None)?;
        let stream = socket.connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Makes a socket leave as the fields say: from the own address of its family, which is
    /// `any` where none is asked for.
    fn prepare(&self, socket: &SockRef<'_>, family: Family, any: Option<IpAddr>) -> io::Result<()> {
        if let Some(interface) = &self.interface {
            bind_to(socket, interface)
                .map_err(|error| unset("bind_interface", interface, &error))?;
        }
        if let Some(mark) = self.mark {
            set_mark(socket, mark).map_err(|error| unset("routing_mark", mark, &error))?;
        }
        let own = match family {
            Family::V4 => self.bind_v4.map(IpAddr::from),
            Family::V6 => self.bind_v6.map(IpAddr::from),
        };
        let Some(ip) = own.or(any) else {
            return Ok(());
        };
        let bound = socket.bind(&SocketAddr::new(ip, 0).into());
        bound.map_err(|error| unset("own address", ip, &error))
    }
}

#[cfg(target_os = "linux")]
fn bind_to(socket: &SockRef<'_>, interface: &str) -> io::Result<()> {
    socket.bind_device(Some(interface.as_bytes()))
}

#[cfg(not(target_os = "linux"))]
fn bind_to(_: &SockRef<'_>, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn set_mark(socket: &SockRef<'_>, mark: u32) -> io::Result<()> {
    socket.set_mark(mark)
}

#[cfg(not(target_os = "linux"))]
fn set_mark(_: &SockRef<'_>, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The system refuses what a dial field asks for, which is no fault of the server.
fn unset(field: &str, value: impl Display, error: &io::Error) -> io::Error {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => " (it takes the capability CAP_NET_ADMIN or root)",
        _ => "",
    };
    let text = format!("the {field} {value} cannot be set on our socket: {error}{hint}");
    let cause = match error.kind() {
        io::ErrorKind::AddrNotAvailable => Cause::NoRoute,
        _ => Cause::Other,
    };
    io::Error::other(FetchError::new(Phase::Dial, cause, text))
}

/// A host without IPv6 cannot even make the socket.
fn no_ipv6(error: io::Error) -> io::Error {
    io::Error::new(io::ErrorKind::AddrNotAvailable, error)
}

/// One error for all addresses: the one that says most, with each in its text.
fn refused(target: &Target, failures: &[(SocketAddr, io::Error)]) -> FetchError {
    let peer = target.to_string();
    let told = |(address, error): &(SocketAddr, io::Error)| match &target.host {
        Host::Ip(_) => of_io(Phase::Dial, &peer, error),
        Host::Name(_) => of_io(Phase::Dial, &format!("{peer} ({address})"), error),
    };
    let mut told: Vec<FetchError> = failures.iter().map(told).collect();
    // A refusal proves a host there; no route may only mean that we have no IPv6.
    told.sort_by_key(|error| match error.cause {
        Cause::Refused => 0,
        Cause::NoRoute => 2,
        _ => 1,
    });
    let text = told
        .iter()
        .map(|error| error.text.as_str())
        .collect::<Vec<_>>()
        .join("; ");
    match told.into_iter().next() {
        Some(first) => FetchError { text, ..first },
        None => FetchError::new(
            Phase::Dial,
            Cause::NoRoute,
            format!("{target} has no address that may be dialed"),
        ),
    }
}
