//! The outbounds that are tried for one connection (G-7). It must not know what is opened
//! through them.

use std::collections::BTreeSet;

use super::Dispatch;
use crate::group::{Flow, Pick};
use crate::inbound::Client;
use crate::monitor::Fault;
use crate::proxy_core::{Cause, FetchError, Host, Network, Phase};

/// See the module.
pub(super) struct Attempts<'a> {
    dispatch: &'a Dispatch,
    network: Network,
    flow: Flow<'a>,
    tried: BTreeSet<String>,
    /// How many more may be tried, once one was.
    left: Option<u32>,
    last: Option<FetchError>,
}

impl<'a> Attempts<'a> {
    /// For a connection of `client` to `destination`.
    pub(super) fn new(
        dispatch: &'a Dispatch,
        client: &Client,
        network: Network,
        destination: &'a Host,
    ) -> Self {
        let flow = Flow {
            source: Some(client.source.ip()),
            destination,
        };
        Self {
            dispatch,
            network,
            flow,
            tried: BTreeSet::new(),
            left: None,
            last: None,
        }
    }

    /// The outbound to try next.
    ///
    /// # Errors
    /// There is no other.
    pub(super) fn next(&mut self) -> Result<Pick, FetchError> {
        let Dispatch { groups, tag, .. } = self.dispatch;
        let pick = groups.pick(tag, self.network, self.flow, &self.tried);
        pick.ok_or_else(|| {
            let last = self.last.take();
            last.unwrap_or_else(|| nowhere(tag, self.network))
        })
    }

    /// The outbound failed, which the monitor hears of.
    ///
    /// # Errors
    /// No other is to be tried.
    pub(super) fn failed(&mut self, pick: Pick, error: FetchError) -> Result<(), FetchError> {
        let fault = self.dispatch.reporter.failed(&pick, &error);
        let left = self.left.unwrap_or(pick.retries);
        // What one outbound cannot do by its nature, another may.
        let another = fault == Fault::Outbound || error.cause == Cause::Unsupported;
        if !another || left == 0 {
            return Err(error);
        }
        self.left = Some(left - 1);
        self.tried.insert(pick.tag);
        self.last = Some(error);
        Ok(())
    }
}

fn nowhere(tag: &str, network: Network) -> FetchError {
    let text = match network {
        Network::Tcp => format!("`{tag}` leads to no outbound"),
        Network::Udp => format!("`{tag}` leads to no outbound that carries UDP"),
    };
    FetchError::new(Phase::Dial, Cause::Unsupported, text)
}
