//! Tells the monitor of connections, and of those that fail, whose fault it is (E-8). It
//! must not know what is opened, nor who is tried next.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::group::Pick;
use crate::monitor::{Fault, Monitor};
use crate::proxy_core::{Cause, FetchError, Phase, ProxyCore};

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(super) struct Reporter {
    monitor: Monitor,
    /// Outbounds whose failures are those of the destination: nothing is between.
    direct: Arc<BTreeSet<String>>,
}

impl Reporter {
    /// Of connections through outbounds of `core`.
    pub(super) fn new(monitor: Monitor, core: &dyn ProxyCore) -> Self {
        let listed = core.list().into_iter();
        let direct = listed
            .filter(|outbound| outbound.exit_follows_host)
            .map(|outbound| outbound.tag)
            .collect();
        Self {
            monitor,
            direct: Arc::new(direct),
        }
    }

    /// A user's traffic goes through the core (N-1).
    pub(super) fn activity(&self) {
        self.monitor.activity();
    }

    /// What was picked failed. Says whose fault that is.
    pub(super) fn failed(&self, pick: &Pick, error: &FetchError) -> Fault {
        let fault = self.fault(&pick.tag, error);
        let group = pick.groups.last().cloned();
        self.monitor
            .connection_failed(pick.tag.clone(), group, fault);
        fault
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
