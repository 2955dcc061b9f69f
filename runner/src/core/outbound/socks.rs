//! `socks`: a SOCKS 4, 4a or 5 proxy; names are resolved by it where it can.
//! It must not know how the proxy is reached.

use std::any::Any;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::net::TcpStream;
use tokio_socks::tcp::{Socks4Stream, Socks5Stream};
use tokio_socks::{Error, TargetAddr};

use super::{Protocol, read_networks};
use crate::core::options::{Reader, Server, Strings, take};
use crate::core::proxy::Proxy;
use crate::core::way::{Stream, Way};
use crate::fetch::of_io;
use crate::proxy_core::{Cause, Datagrams, Family, FetchError, Host, Network, Phase, Target};
use crate::socks::association::{self, Association};

/// Longest user name or password that fits the protocol (RFC 1929).
const CREDENTIAL_LIMIT: usize = 255;

/// Longest name and user name together that fit one SOCKS 4a request here.
const SOCKS4A_LIMIT: usize = 500;

/// The longest answer of a proxy fits, in bytes.
const ANSWER: usize = 512;

struct Socks {
    server: Target,
    version: Version,
    username: String,
    password: String,
    udp: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
enum Version {
    #[serde(rename = "4")]
    V4,
    #[serde(rename = "4a")]
    V4a,
    #[default]
    #[serde(rename = "5")]
    V5,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Fields {
    version: Version,
    username: String,
    password: String,
    network: Strings,
    // A server that speaks it takes datagrams too.
    udp_over_tcp: Option<Value>,
}

pub(super) fn read(
    mut options: Map<String, Value>,
    reader: &mut Reader<'_>,
) -> Option<Box<dyn Protocol>> {
    let server = reader.read::<Server>(take(&mut options, Server::NAMES));
    let fields: Fields = reader.read(options)?;
    let udp = read_networks(&fields.network.0, reader);
    for (name, text) in [
        ("username", &fields.username),
        ("password", &fields.password),
    ] {
        if text.len() > CREDENTIAL_LIMIT {
            reader.error(
                name,
                format!("longer than the {CREDENTIAL_LIMIT} bytes SOCKS allows"),
            );
        }
    }
    if fields.version != Version::V5 && fields.username.contains('\0') {
        reader.error("username", "holds a zero byte, which SOCKS 4 cannot send");
    }
    if fields.version == Version::V5 && fields.username.is_empty() != fields.password.is_empty() {
        reader.unsupported(
            "it has a `username` without a `password` or the other way round, and SOCKS 5 knows \
             no empty ones (RFC 1929); give both or none",
        );
    }
    Some(Box::new(Socks {
        server: server?.into_target(),
        version: fields.version,
        username: fields.username,
        password: fields.password,
        // The older versions have no datagrams.
        udp: udp && fields.version == Version::V5,
    }))
}

#[async_trait]
impl Protocol for Socks {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        let wanted = self.wanted(way, target).await?;
        let stream = way.connect(&self.server).await?;
        let proxy = self.proxy(way);
        way.progress.shaking_hands(proxy);
        // An answer is read as it came, not by its fields.
        let stream = BufReader::with_capacity(ANSWER, stream);
        match self.ask(stream, wanted).await {
            // What the target said right behind the answer is not lost.
            Ok(stream) if !stream.buffer().is_empty() => Ok(Box::new(stream)),
            Ok(stream) => Ok(stream.into_inner()),
            Err(error) => {
                let proxy = self.proxy(way).to_string();
                Err(self.failure(&proxy, &target.to_string(), error))
            }
        }
    }

    fn carrier_of_datagrams(&self) -> Option<Network> {
        self.udp.then_some(Network::Udp)
    }

    async fn associate(&self, way: &mut Way<'_>) -> Result<Box<dyn Datagrams>, FetchError> {
        let mut stream = way.connect(&self.server).await?;
        let proxy = self.proxy(way);
        way.progress.shaking_hands(proxy.clone());
        let proxy = proxy.to_string();
        let login = (self.username.as_str(), self.password.as_str());
        let login = Some(login).filter(|(user, _)| !user.is_empty());
        let server = host_of(&stream).unwrap_or_else(|| self.server.host.clone());
        let relay = association::ask(&mut stream, &server, login).await;
        let relay = relay.map_err(|error| match error {
            Error::CommandNotSupported => {
                let text = format!("{proxy} carries no datagrams");
                FetchError::new(Phase::Proxy, Cause::Unsupported, text)
            }
            error => self.failure(&proxy, "a target of datagrams", error),
        })?;
        let link = way.link(&relay).await?;
        Ok(Box::new(Association::new(proxy, stream, link)))
    }
}

/// Where a stream leads, if it is a socket of our own: a name may have more addresses.
fn host_of(stream: &Stream) -> Option<Host> {
    let stream: &dyn Any = &**stream;
    let address = stream.downcast_ref::<TcpStream>()?.peer_addr().ok()?;
    Some(Host::Ip(address.ip()))
}

impl Socks {
    fn proxy(&self, way: &Way<'_>) -> Proxy {
        way.proxy("SOCKS proxy", &self.server)
    }

    /// Has the proxy connect.
    async fn ask<S>(&self, stream: S, wanted: TargetAddr<'static>) -> Result<S, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let (user, password) = (self.username.as_str(), self.password.as_str());
        Ok(match self.version {
            Version::V4 | Version::V4a if user.is_empty() => {
                Socks4Stream::connect_with_socket(stream, wanted)
                    .await?
                    .into_inner()
            }
            Version::V4 | Version::V4a => {
                Socks4Stream::connect_with_userid_and_socket(stream, wanted, user)
                    .await?
                    .into_inner()
            }
            Version::V5 if user.is_empty() => Socks5Stream::connect_with_socket(stream, wanted)
                .await?
                .into_inner(),
            Version::V5 => {
                Socks5Stream::connect_with_password_and_socket(stream, wanted, user, password)
                    .await?
                    .into_inner()
            }
        })
    }

    /// What the proxy is asked to connect to.
    async fn wanted(
        &self,
        way: &mut Way<'_>,
        target: &Target,
    ) -> Result<TargetAddr<'static>, FetchError> {
        let target = match (&target.host, self.version) {
            (Host::Name(name), Version::V4) => {
                // SOCKS 4 knows neither names nor IPv6.
                let family = target.family.unwrap_or(Family::V4);
                &Target {
                    host: Host::Ip(way.resolve(name, family).await?),
                    ..target.clone()
                }
            }
            _ => &way.remote(target).await?,
        };
        match &target.host {
            Host::Ip(IpAddr::V6(_)) if self.version != Version::V5 => {
                let text = format!("SOCKS 4 cannot ask for the IPv6 address of {target}");
                Err(FetchError::new(Phase::Proxy, Cause::Unsupported, text))
            }
            Host::Ip(ip) => Ok(TargetAddr::Ip(SocketAddr::new(*ip, target.port))),
            Host::Name(name)
                if name.len() + self.username.len() > SOCKS4A_LIMIT
                    || name.len() > CREDENTIAL_LIMIT =>
            {
                let text = format!("the name of {target} is too long for SOCKS");
                Err(FetchError::new(Phase::Proxy, Cause::Unsupported, text))
            }
            Host::Name(name) => Ok(TargetAddr::Domain(name.clone().into(), target.port)),
        }
    }

    /// What the proxy's answer means (T-10).
    fn failure(&self, proxy: &str, target: &str, error: Error) -> FetchError {
        let (cause, text) = match error {
            Error::Io(error) => return of_io(Phase::Proxy, proxy, &error),
            Error::PasswordAuthFailure(_) => (
                Cause::ProxyAuth,
                format!("{proxy} refused the username and password"),
            ),
            Error::NoAcceptableAuthMethods | Error::AuthorizationRequired
                if self.username.is_empty() =>
            {
                (
                    Cause::ProxyAuth,
                    format!("{proxy} wants a username and password"),
                )
            }
            Error::NoAcceptableAuthMethods | Error::AuthorizationRequired => (
                Cause::ProxyAuth,
                format!("{proxy} takes no username and password"),
            ),
            Error::IdentdAuthFailure | Error::InvalidUserIdAuthFailure => (
                Cause::ProxyAuth,
                format!("{proxy} refused the user name ({error})"),
            ),
            Error::ConnectionRefused => (
                Cause::Refused,
                format!("{target} refused the connection from {proxy}"),
            ),
            Error::NetworkUnreachable | Error::HostUnreachable => (
                Cause::NoRoute,
                format!("{proxy} has no route to {target} ({error})"),
            ),
            Error::TtlExpired => (
                Cause::DialTimeout,
                format!("{target} did not answer {proxy} ({error})"),
            ),
            Error::InvalidResponseVersion => (
                Cause::ProxyHandshake,
                format!("{proxy} does not speak its protocol ({error})"),
            ),
            error => (
                Cause::ProxyHandshake,
                format!("{proxy} refused to connect to {target}: {error}"),
            ),
        };
        FetchError::new(Phase::Proxy, cause, text)
    }
}
