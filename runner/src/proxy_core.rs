//! What a proxy core is to Outwatch: the one trait an embedder implements, and
//! its words. It must not know who calls it: no driver, no component, no config.

use std::any::Any;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

pub use datagrams::Datagrams;
pub(crate) use datagrams::another_target;
pub use exchange::{Cause, FetchError, Phase, Request, Response, Timing};

mod datagrams;
mod exchange;

/// A proxy core: outbounds that can be listed, asked and dialed through.
///
/// `list`, `selected` and `status` are called often, from within the engine: they
/// must return at once and never block. `dial` and `associate` run on the tokio runtime,
/// many at a time.
#[async_trait]
pub trait ProxyCore: Send + Sync + 'static {
    /// Every outbound, endpoint and group, in config order. Called at start and
    /// after [`outbounds_changed`](crate::Monitor::outbounds_changed).
    fn list(&self) -> Vec<Outbound>;

    /// The member that a group leads to now; none when it has not chosen or is
    /// no group.
    fn selected(&self, group: &str, network: Network) -> Option<String>;

    /// Makes a group lead to one of its members for one kind of traffic, so that
    /// [`selected`](Self::selected) says so from now on. Called by what decides for a
    /// group; the monitor itself selects nothing. The default refuses.
    ///
    /// # Errors
    /// See [`SelectError`].
    fn select(&self, group: &str, network: Network, member: &str) -> Result<(), SelectError> {
        let _ = (network, member);
        Err(SelectError::Fixed(group.to_owned()))
    }

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

    /// Opens a way for datagrams through the outbound `tag` and through no other. The
    /// default refuses; a core that carries them lists [`Network::Udp`] for the outbounds
    /// which do. Dropping the future must close whatever it opened.
    ///
    /// # Errors
    /// An error by `deadline` at the latest, as of [`dial`](Self::dial);
    /// [`Cause::Unsupported`] for an outbound that carries no datagrams.
    async fn associate(
        &self,
        tag: &str,
        deadline: tokio::time::Instant,
    ) -> Result<Box<dyn Datagrams>, FetchError> {
        let _ = deadline;
        let text = format!("`{tag}` carries no datagrams in this core");
        Err(FetchError::new(Phase::Dial, Cause::Unsupported, text))
    }

    /// Does one HTTP exchange through the outbound `tag`. The default dials, does
    /// TLS with the system's roots, and speaks HTTP/1.1; override it in a core that
    /// can fetch by itself. Without the feature `fetch` every core must.
    ///
    /// # Errors
    /// As [`dial`](Self::dial), and those of TLS and HTTP.
    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        #[cfg(feature = "fetch")]
        {
            let trust = crate::fetch::Trust::system();
            crate::fetch::through_dial(self, tag, request, &trust).await
        }
        #[cfg(not(feature = "fetch"))]
        {
            let text = format!("nothing fetches {} through `{tag}` here", request.url);
            Err(FetchError::new(Phase::Http, Cause::Unsupported, text))
        }
    }
}

/// A core that its owner goes on using: to select members, say.
#[async_trait]
impl<C: ProxyCore + ?Sized> ProxyCore for Arc<C> {
    fn list(&self) -> Vec<Outbound> {
        (**self).list()
    }

    fn selected(&self, group: &str, network: Network) -> Option<String> {
        (**self).selected(group, network)
    }

    fn select(&self, group: &str, network: Network, member: &str) -> Result<(), SelectError> {
        (**self).select(group, network, member)
    }

    fn status(&self, tag: &str) -> Readiness {
        (**self).status(tag)
    }

    // Written out: with `async` each would be a future around the future of the core.

    fn dial<'a, 'b, 'c, 'all>(
        &'a self,
        tag: &'b str,
        target: &'c Target,
        deadline: tokio::time::Instant,
    ) -> BoxFuture<'all, Result<Dialed, FetchError>>
    where
        'a: 'all,
        'b: 'all,
        'c: 'all,
        Self: 'all,
    {
        (**self).dial(tag, target, deadline)
    }

    fn associate<'a, 'b, 'all>(
        &'a self,
        tag: &'b str,
        deadline: tokio::time::Instant,
    ) -> BoxFuture<'all, Result<Box<dyn Datagrams>, FetchError>>
    where
        'a: 'all,
        'b: 'all,
        Self: 'all,
    {
        (**self).associate(tag, deadline)
    }

    fn fetch<'a, 'b, 'c, 'all>(
        &'a self,
        tag: &'b str,
        request: &'c Request,
    ) -> BoxFuture<'all, Result<Response, FetchError>>
    where
        'a: 'all,
        'b: 'all,
        'c: 'all,
        Self: 'all,
    {
        (**self).fetch(tag, request)
    }
}

/// Why a group did not take a selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// There is no such group.
    #[error("there is no group `{0}`")]
    NoSuchGroup(String),
    /// The group has no such member.
    #[error("`{member}` is no member of the group `{group}`")]
    NotAMember {
        /// The group.
        group: String,
        /// What was to be selected.
        member: String,
    },
    /// The core decides itself where the group leads.
    #[error("where the group `{0}` leads cannot be chosen from outside of its core")]
    Fixed(String),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Self {
            host: Host::Ip(address.ip()),
            port: address.port(),
            family: None,
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

/// A byte stream. A bare [`TcpStream`](tokio::net::TcpStream) is recognised as one, and
/// relayed at less cost than what is wrapped around it.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + Any {}
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
