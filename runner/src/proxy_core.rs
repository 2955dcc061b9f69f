//! What a proxy core is to Outwatch: the one trait an embedder implements, and
//! its words. It must not know who calls it: no driver, no component, no config.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::fetch;

/// A proxy core: outbounds that can be listed, asked and dialed through.
///
/// `list`, `selected` and `status` are called often, from within the engine: they
/// must return at once and never block. `dial` runs on the tokio runtime, many at
/// a time.
#[async_trait]
pub trait ProxyCore: Send + Sync + 'static {
    /// Every outbound, endpoint and group, in config order. Called at start and
    /// after [`outbounds_changed`](crate::Monitor::outbounds_changed).
    fn list(&self) -> Vec<Outbound>;

    /// The member that a group leads to now; none when it has not chosen or is
    /// no group.
    fn selected(&self, group: &str, network: Network) -> Option<String>;

    /// Whether an outbound can be tested now. The default is always.
    fn status(&self, tag: &str) -> Readiness {
        let _ = tag;
        Readiness::Ready
    }

    /// Opens a TCP stream to `target` through the outbound `tag` and through no
    /// other. Dropping the future must close whatever it opened.
    ///
    /// # Errors
    /// An error by `deadline` at the latest. It says where it failed
    /// ([`Phase::Dial`] or [`Phase::Proxy`]), why, and in words.
    async fn dial(
        &self,
        tag: &str,
        target: &Target,
        deadline: tokio::time::Instant,
    ) -> Result<Dialed, FetchError>;

    /// Does one HTTP exchange through the outbound `tag`. The default dials, does
    /// TLS with the system's roots, and speaks HTTP/1.1; override it in a core that
    /// can fetch by itself.
    ///
    /// # Errors
    /// As [`dial`](Self::dial), and those of TLS and HTTP.
    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        fetch::through_dial(self, tag, request, &fetch::Trust::system()).await
    }
}

/// One outbound, endpoint or group of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// Its unique name, opaque.
    pub tag: String,
    /// The core's own word for its type, such as `shadowsocks`.
    pub type_name: String,
    /// What it is to the monitor.
    pub kind: Kind,
    /// The outbound or group it dials through.
    pub detour: Option<String>,
    /// A group's members.
    pub members: Vec<String>,
    /// The transports it can carry.
    pub networks: Vec<Network>,
    /// Stands for the identity of its server (address, port, account); saved
    /// results are taken over only while it is equal. At most 128 bytes.
    pub fingerprint: String,
    /// Its traffic leaves with the address of the host's own network.
    pub exit_follows_host: bool,
}

impl Outbound {
    /// An outbound that carries TCP, without detour.
    pub fn new(tag: impl Into<String>, type_name: impl Into<String>) -> Self {
        Self {
            tag: tag.into(),
            type_name: type_name.into(),
            kind: Kind::Outbound,
            detour: None,
            members: Vec::new(),
            networks: vec![Network::Tcp],
            fingerprint: String::new(),
            exit_follows_host: false,
        }
    }

    /// A group of `members`.
    pub fn group<T: Into<String>>(
        tag: impl Into<String>,
        type_name: impl Into<String>,
        members: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            kind: Kind::Group,
            members: members.into_iter().map(Into::into).collect(),
            ..Self::new(tag, type_name)
        }
    }
}

/// What an entry of a core is to the monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A way out; tested.
    Outbound,
    /// A way out that is also a tunnel end; tested like an outbound.
    Endpoint,
    /// Made of members; not tested itself.
    Group,
    /// Never tested and never listed as failed (`block`, `dns`).
    Untestable,
}

/// A transport that an outbound can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Streams.
    Tcp,
    /// Datagrams.
    Udp,
}

/// Whether an outbound can be tested now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// Not yet; the text says why, for people.
    NotReady(String),
    /// Not ever in this core; the text says what would make it work.
    Unsupported(String),
}

/// Where to dial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name or address.
    pub host: Host,
    /// TCP port.
    pub port: u16,
    /// Only addresses of this family are dialed when set.
    pub family: Option<Family>,
}

/// A host as it stands in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name, to be resolved as far away as the outbound allows.
    Name(String),
    /// An address.
    Ip(IpAddr),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ip(ip) => ip.fmt(f),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]:{}", self.port),
            host => write!(f, "{host}:{}", self.port),
        }
    }
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// A byte stream.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// A stream that was opened through an outbound.
pub struct Dialed {
    /// Leads to the target.
    pub stream: Box<dyn Io>,
    /// How long resolving names took, where the core did it itself.
    pub dns: Option<Duration>,
}

impl fmt::Debug for Dialed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialed")
            .field("dns", &self.dns)
            .finish_non_exhaustive()
    }
}

/// One HTTP exchange. No redirect is followed, no connection reused, no cookie sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Absolute, `http` or `https`.
    pub url: String,
    /// The method's name, such as `HEAD`.
    pub method: String,
    /// Sent as given, besides `host` and `connection`.
    pub headers: Vec<(String, String)>,
    /// Bounds the whole exchange, from the call.
    pub deadline: Duration,
    /// Reading stops after so many bytes of body.
    pub body_limit: u32,
    /// Lower-case names of the response headers wanted.
    pub response_headers: Vec<String>,
    /// Send it twice on one connection and time the second too.
    pub repeat: bool,
    /// Dial only over this family.
    pub family: Option<Family>,
}

/// How long each phase of an exchange took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Resolving the name, where the core did it itself.
    pub dns: Option<Duration>,
    /// From the start until the stream was open.
    pub dial: Duration,
    /// The TLS handshake.
    pub tls: Option<Duration>,
    /// From before the dial until the response headers.
    pub first_byte: Duration,
    /// From the start until the body was read.
    pub total: Duration,
    /// The second round trip on the same connection.
    pub repeat: Option<Duration>,
}

/// An HTTP response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The headers asked for, names in lower case, in the order received.
    pub headers: Vec<(String, String)>,
    /// The body, up to the limit.
    pub body: Vec<u8>,
    /// How long it took.
    pub timing: Timing,
}

/// Why an exchange failed, where, and in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct FetchError {
    /// Where.
    pub phase: Phase,
    /// Why, for programs.
    pub cause: Cause,
    /// Why, for people: what was tried, with whom, what came back.
    pub text: String,
}

impl FetchError {
    /// An error of `phase`, for `cause`, in words.
    pub fn new(phase: Phase, cause: Cause, text: impl Into<String>) -> Self {
        Self {
            phase,
            cause,
            text: text.into(),
        }
    }
}

/// Where an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reaching the outbound's server, or the target where there is none.
    Dial,
    /// The handshake with a proxy on the way.
    Proxy,
    /// TLS with the target.
    Tls,
    /// The request and its response.
    Http,
}

/// Why an exchange failed. Each cause becomes one error kind of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The connection was refused (`dial_refused`).
    Refused,
    /// The connection did not open in time (`dial_timeout`).
    DialTimeout,
    /// The name does not resolve (`dns_fail`).
    DnsFailed,
    /// The resolver did not answer in time (`dns_timeout`).
    DnsTimeout,
    /// There is no way to the address (`no_route`).
    NoRoute,
    /// A proxy refused the credentials or wants some (`proxy_auth`).
    ProxyAuth,
    /// A proxy refused otherwise or does not speak its protocol (`proxy_handshake`).
    ProxyHandshake,
    /// The TLS handshake failed (`tls_fail`).
    TlsFailed,
    /// The certificate is not to be trusted (`tls_cert`).
    TlsCertificate,
    /// The response is not HTTP (`http_malformed`).
    HttpMalformed,
    /// The stream ended in the middle (`eof`).
    Eof,
    /// The stream was reset (`reset`).
    Reset,
    /// The deadline passed after the stream was open (`timeout`).
    Timeout,
    /// The core cannot do this (`unsupported`).
    Unsupported,
    /// Anything else (`other`).
    Other,
}
