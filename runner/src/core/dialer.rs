//! Our own sockets: sing-box's dial fields, and a TCP connection made by them.
//! It must not know what the connection is for.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};

use super::eyeballs::{Preference, STAGGER, interleave, race};
use super::options::{Reader, duration};
use super::progress::Progress;
use super::resolve::{Resolver, is_of, resolve};
use crate::fetch::of_io;
use crate::proxy_core::{Cause, Family, FetchError, Host, Phase, Target};

/// The fields that every outbound with sockets of its own may have.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DialFields {
    bind_interface: Option<String>,
    inet4_bind_address: Option<Ipv4Addr>,
    inet6_bind_address: Option<Ipv6Addr>,
    #[serde(deserialize_with = "duration")]
    connect_timeout: Option<Duration>,
    domain_strategy: Strategy,
    #[serde(deserialize_with = "duration")]
    fallback_delay: Option<Duration>,
    routing_mark: Option<Value>,
    netns: Option<String>,
}

impl DialFields {
    /// All that belong here, those that need nothing done included.
    pub(super) const NAMES: &[&str] = &[
        "bind_interface",
        "inet4_bind_address",
        "inet6_bind_address",
        "connect_timeout",
        "domain_strategy",
        "fallback_delay",
        "routing_mark",
        "netns",
    ];

    /// Those that change neither where traffic goes nor what a TCP test says.
    pub(super) const HARMLESS: &[&str] = &[
        "bind_address_no_port",
        "disable_tcp_keep_alive",
        "domain_resolver",
        "fallback_network_type",
        "network_strategy",
        "network_type",
        "protect_path",
        "reuse_addr",
        "tcp_fast_open",
        "tcp_keep_alive",
        "tcp_keep_alive_interval",
        "tcp_multi_path",
        "udp_fragment",
    ];
}

/// sing-box's `domain_strategy`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Strategy {
    #[default]
    #[serde(rename = "", alias = "as_is")]
    AsIs,
    PreferIpv4,
    PreferIpv6,
    Ipv4Only,
    Ipv6Only,
}

/// Opens TCP connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dialer {
    interface: Option<String>,
    bind_v4: Option<Ipv4Addr>,
    bind_v6: Option<Ipv6Addr>,
    connect_timeout: Option<Duration>,
    preference: Preference,
    stagger: Option<Duration>,
}

impl Dialer {
    /// What the dial fields of one outbound ask for.
    pub(super) fn new(fields: DialFields, reader: &mut Reader<'_>) -> Self {
        if fields.routing_mark.is_some() {
            reader.unsupported("its `routing_mark` is not set by the built-in core; remove it");
        }
        if fields.netns.is_some() {
            reader.unsupported("its `netns` is not entered by the built-in core; remove it");
        }
        if fields.bind_interface.is_some() && !cfg!(target_os = "linux") {
            reader.unsupported("its `bind_interface` works on Linux only in the built-in core");
        }
        Self {
            interface: fields.bind_interface,
            bind_v4: fields.inet4_bind_address,
            bind_v6: fields.inet6_bind_address,
            connect_timeout: fields.connect_timeout,
            preference: match fields.domain_strategy {
                Strategy::AsIs => Preference::Resolver,
                Strategy::PreferIpv4 => Preference::PreferV4,
                Strategy::PreferIpv6 => Preference::PreferV6,
                Strategy::Ipv4Only => Preference::OnlyV4,
                Strategy::Ipv6Only => Preference::OnlyV6,
            },
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
        progress.connecting(&target.to_string());
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
        let (socket, local) = match address {
            SocketAddr::V4(_) => (TcpSocket::new_v4()?, self.bind_v4.map(IpAddr::from)),
            SocketAddr::V6(_) => (
                TcpSocket::new_v6().map_err(no_ipv6)?,
                self.bind_v6.map(IpAddr::from),
            ),
        };
        if let Some(interface) = &self.interface {
            bind_to(&socket, interface)?;
        }
        if let Some(ip) = local {
            socket.bind(SocketAddr::new(ip, 0))?;
        }
        let stream = socket.connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

#[cfg(target_os = "linux")]
fn bind_to(socket: &TcpSocket, interface: &str) -> io::Result<()> {
    socket.bind_device(Some(interface.as_bytes()))
}

#[cfg(not(target_os = "linux"))]
fn bind_to(_: &TcpSocket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
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
