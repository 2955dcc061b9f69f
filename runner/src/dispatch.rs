//! From a user's connection to the outbound that it leaves by: a group chooses it, the
//! monitor hears of it, and another is tried when it cannot be dialed (G-7). It must not
//! know how a connection comes in, nor how an outbound dials.

mod association;
mod attempts;
mod cut;
mod reporter;
#[cfg(test)]
mod tests;
mod watched;

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use self::association::Association;
use self::attempts::Attempts;
use self::reporter::Reporter;
use self::watched::watched;
use crate::group::{Groups, Pick};
use crate::inbound::{Client, Connections, Upstream};
use crate::monitor::Monitor;
use crate::proxy_core::{Datagrams, FetchError, Host, Io, Network, ProxyCore, Target};

/// How long one outbound may take to open a connection.
const DIAL_WITHIN: Duration = Duration::from_secs(10);

/// Sends the connections of users through one outbound or group of a core.
pub struct Dispatch {
    core: Arc<dyn ProxyCore>,
    groups: Groups,
    tag: String,
    reporter: Reporter,
    /// Who counts its connections, if anyone does.
    connections: Option<Connections>,
}

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatch")
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

impl Dispatch {
    /// Through `tag`, an outbound or a group of `core`.
    pub fn new(
        core: Arc<dyn ProxyCore>,
        groups: Groups,
        monitor: Monitor,
        tag: impl Into<String>,
    ) -> Self {
        let reporter = Reporter::new(monitor, &*core);
        Self {
            core,
            groups,
            tag: tag.into(),
            reporter,
            connections: None,
        }
    }

    /// Has its connections among these while they are open. By default they are in no list,
    /// and nobody counts what they carry.
    #[must_use]
    pub fn counting(mut self, connections: Connections) -> Self {
        self.connections = Some(connections);
        self
    }

    /// Who counts, if anyone does, and the tags that such a connection goes by, the outermost
    /// first.
    fn counted(&self, pick: &Pick) -> Option<(&Connections, Vec<String>)> {
        let connections = self.connections.as_ref()?;
        let groups = pick.groups.iter();
        Some((connections, groups.chain([&pick.tag]).cloned().collect()))
    }
}

#[async_trait]
impl Upstream for Dispatch {
    async fn connect(&self, client: &Client, target: &Target) -> Result<Box<dyn Io>, FetchError> {
        self.reporter.activity();
        let mut attempts = Attempts::new(self, client, Network::Tcp, &target.host);
        loop {
            let pick = attempts.next()?;
            let deadline = Instant::now() + DIAL_WITHIN;
            match self.core.dial(&pick.tag, target, deadline).await {
                Ok(dialed) => {
                    let cuts = pick.cuts.clone();
                    let counted = self.counted(&pick);
                    let stream = watched(dialed.stream, pick, &self.reporter);
                    let stream = cut::ending_with(stream, cuts);
                    return Ok(match counted {
                        Some((all, chain)) => all.stream(stream, client, target, chain),
                        None => stream,
                    });
                }
                Err(error) => attempts.failed(pick, error)?,
            }
        }
    }

    async fn associate(&self, client: &Client) -> Result<Box<dyn Datagrams>, FetchError> {
        self.reporter.activity();
        // Its datagrams may go anywhere.
        let nowhere = Host::Ip(Ipv4Addr::UNSPECIFIED.into());
        let mut attempts = Attempts::new(self, client, Network::Udp, &nowhere);
        loop {
            let pick = attempts.next()?;
            let deadline = Instant::now() + DIAL_WITHIN;
            match self.core.associate(&pick.tag, deadline).await {
                Ok(way) => {
                    let counted = self.counted(&pick);
                    let way = Box::new(Association::new(way, pick, self.reporter.clone()));
                    return Ok(match counted {
                        Some((all, chain)) => all.datagrams(way, client, chain),
                        None => way,
                    });
                }
                Err(error) => attempts.failed(pick, error)?,
            }
        }
    }
}
