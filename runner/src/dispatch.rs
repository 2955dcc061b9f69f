//! From a user's connection to the outbound that it leaves by: a group chooses it, the
//! monitor hears of it, and another is tried when it cannot be dialed (G-7). It must not
//! know how a connection comes in, nor how an outbound dials.

mod cut;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use crate::group::{Flow, Groups, Pick};
use crate::inbound::{Client, Datagrams, Direct, Upstream};
use crate::monitor::{Fault, Monitor};
use crate::proxy_core::{Cause, FetchError, Io, Network, Phase, ProxyCore, Target};

/// How long one outbound may take to open a connection.
const DIAL_WITHIN: Duration = Duration::from_secs(10);

/// Sends the connections of users through one outbound or group of a core.
pub struct Dispatch {
    core: Arc<dyn ProxyCore>,
    groups: Groups,
    monitor: Monitor,
    tag: String,
    /// Outbounds whose failures are those of the destination: nothing is between.
    direct: BTreeSet<String>,
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
        let listed = core.list().into_iter();
        let direct = listed
            .filter(|outbound| outbound.exit_follows_host)
            .map(|outbound| outbound.tag)
            .collect();
        Self {
            core,
            groups,
            monitor,
            tag: tag.into(),
            direct,
        }
    }

    fn pick(
        &self,
        client: &Client,
        network: Network,
        target: &Target,
        tried: &BTreeSet<String>,
    ) -> Option<Pick> {
        let flow = Flow {
            source: Some(client.source.ip()),
            destination: &target.host,
        };
        self.groups.pick(&self.tag, network, flow, tried)
    }

    /// Whose fault it is that a connection did not open (E-8).
    fn fault(&self, tag: &str, error: &FetchError) -> Fault {
        let about_destination = matches!(
            error.cause,
            Cause::Refused
                | Cause::NoRoute
                | Cause::DialTimeout
                | Cause::DnsFailed
                | Cause::DnsTimeout
                | Cause::Unsupported
        );
        match error.phase {
            // The proxy did its part and says what it met.
            Phase::Proxy if about_destination => Fault::Destination,
            Phase::Dial if self.direct.contains(tag) => match error.cause {
                Cause::Refused | Cause::DnsFailed => Fault::Destination,
                _ => Fault::Outbound,
            },
            _ => Fault::Outbound,
        }
    }
}

#[async_trait]
impl Upstream for Dispatch {
    async fn connect(&self, client: &Client, target: &Target) -> Result<Box<dyn Io>, FetchError> {
        self.monitor.activity();
        let mut tried = BTreeSet::new();
        let mut retries = None;
        let mut last = None;
        while let Some(pick) = self.pick(client, Network::Tcp, target, &tried) {
            let deadline = Instant::now() + DIAL_WITHIN;
            let error = match self.core.dial(&pick.tag, target, deadline).await {
                Ok(dialed) => return Ok(cut::ending_with(dialed.stream, pick.cuts)),
                Err(error) => error,
            };
            let fault = self.fault(&pick.tag, &error);
            let group = pick.groups.last().cloned();
            self.monitor
                .connection_failed(pick.tag.clone(), group, fault);
            let left = retries.unwrap_or(pick.retries);
            if fault != Fault::Outbound || left == 0 {
                return Err(error);
            }
            retries = Some(left - 1);
            tried.insert(pick.tag);
            last = Some(error);
        }
        Err(last.unwrap_or_else(|| nowhere(&self.tag)))
    }

    async fn associate(&self, client: &Client) -> Result<Box<dyn Datagrams>, FetchError> {
        self.monitor.activity();
        let anywhere = Target {
            host: crate::Host::Ip(client.source.ip()),
            port: 0,
            family: None,
        };
        let pick = self.pick(client, Network::Udp, &anywhere, &BTreeSet::new());
        let pick = pick.ok_or_else(|| nowhere(&self.tag))?;
        if self.direct.contains(&pick.tag) {
            return Direct.associate(client).await;
        }
        let text = format!("`{}` carries no UDP in this core", pick.tag);
        Err(FetchError::new(Phase::Dial, Cause::Unsupported, text))
    }
}

fn nowhere(tag: &str) -> FetchError {
    let text = format!("`{tag}` leads to no outbound");
    FetchError::new(Phase::Dial, Cause::Unsupported, text)
}
