//! Names to addresses, by the system's resolver.
//! It must not know what the addresses are for.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;
use tokio::time::Instant;

use super::progress::Progress;
use crate::proxy_core::{Cause, Family, FetchError, Phase};

/// Something that knows the addresses of names.
#[async_trait]
pub(super) trait Resolver: Send + Sync {
    /// Every address of `name`, best first.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// What the operating system is set up to ask.
pub(super) struct System;

#[async_trait]
impl Resolver for System {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((name, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// The addresses of `name` in `family` (or any), timed in `progress`.
pub(super) async fn resolve(
    resolver: &dyn Resolver,
    name: &str,
    family: Option<Family>,
    progress: &mut Progress,
) -> Result<Vec<IpAddr>, FetchError> {
    let failed = |text| Err(FetchError::new(Phase::Dial, Cause::DnsFailed, text));
    progress.resolving(name);
    let start = Instant::now();
    let found = resolver.lookup(name).await;
    progress.dns = Some(progress.dns.unwrap_or_default() + start.elapsed());
    match found {
        Ok(mut found) => {
            found.retain(|ip| is_of(*ip, family));
            match (found.is_empty(), family) {
                (false, _) => Ok(found),
                (true, None) => failed(format!("`{name}` has no address")),
                (true, Some(Family::V4)) => failed(format!("`{name}` has no IPv4 address")),
                (true, Some(Family::V6)) => failed(format!("`{name}` has no IPv6 address")),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(FetchError::new(
            Phase::Dial,
            Cause::DnsTimeout,
            format!("the resolver did not answer for `{name}` in time"),
        )),
        Err(error) => failed(format!("`{name}` does not resolve ({error})")),
    }
}

/// Whether an address is of a family, where one is asked for.
pub(super) fn is_of(ip: IpAddr, family: Option<Family>) -> bool {
    match family {
        None => true,
        Some(Family::V4) => ip.is_ipv4(),
        Some(Family::V6) => ip.is_ipv6(),
    }
}
