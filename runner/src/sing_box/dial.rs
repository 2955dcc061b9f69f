//! One stream through sing-box. It must not know how sing-box is kept running.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_socks::TargetAddr;
use tokio_socks::tcp::Socks5Stream;

use super::attempt::{Attempt, Attempts, Fault, unsupported};
use super::state::Shared;
use crate::proxy_core::{Cause, Dialed, Family, FetchError, Host, Network, Phase, Target};

/// Longest name that fits the protocol (RFC 1928).
const NAME_LIMIT: usize = 255;

/// Opens a stream.
pub(super) async fn dial(
    shared: &Shared,
    tag: &str,
    target: &Target,
    deadline: Instant,
) -> Result<Dialed, FetchError> {
    let what = format!("the connection to {target}");
    let mut attempts = Attempts::new(shared, tag, Network::Tcp, what)?;
    loop {
        let attempt = attempts.next(deadline).await?;
        match timeout_at(deadline, open(&attempt, target, deadline)).await {
            Ok(Ok(dialed)) => return Ok(dialed),
            Ok(Err(fault)) => attempts.failed(attempt, fault).await?,
            Err(_) => return Err(attempt.late()),
        }
    }
}

async fn open(attempt: &Attempt, target: &Target, deadline: Instant) -> Result<Dialed, Fault> {
    let (wanted, dns) = wanted(attempt, target).await.map_err(Fault::Outbound)?;
    let (stream, port) = attempt.connect().await?;
    let (user, password) = (&attempt.user, &attempt.live.password);
    let opened = Socks5Stream::connect_with_password_and_socket(stream, wanted, user, password);
    match opened.await {
        Ok(stream) => {
            attempt.works();
            Ok(Dialed {
                stream: Box::new(stream.into_inner()),
                dns,
            })
        }
        Err(error) => Err(attempt.refused(port, error, deadline).await),
    }
}

/// What sing-box is asked for: the name itself, unless one family is wanted. Then the name
/// is resolved by its own DNS, since SOCKS cannot say so.
async fn wanted(
    attempt: &Attempt,
    target: &Target,
) -> Result<(TargetAddr<'static>, Option<Duration>), FetchError> {
    let address = |ip| TargetAddr::Ip(SocketAddr::new(ip, target.port));
    match (&target.host, target.family) {
        (Host::Ip(ip), family) if is_of(ip, family) => Ok((address(*ip), None)),
        (Host::Ip(ip), _) => {
            let text = format!("{ip} is not of the address family asked for");
            Err(FetchError::new(Phase::Dial, Cause::NoRoute, text))
        }
        (Host::Name(name), None) if name.len() > NAME_LIMIT => {
            let text = format!("the name of {target} is too long for SOCKS");
            Err(unsupported(text))
        }
        (Host::Name(name), None) => {
            Ok((TargetAddr::Domain(name.clone().into(), target.port), None))
        }
        (Host::Name(name), Some(family)) => {
            let ip = resolve(attempt, name, family).await?;
            Ok((address(ip), Some(attempt.elapsed())))
        }
    }
}

async fn resolve(attempt: &Attempt, name: &str, family: Family) -> Result<IpAddr, FetchError> {
    let found = match &attempt.live.control {
        Some(control) => control.resolve(name, family).await,
        None => tokio::net::lookup_host((name, 0))
            .await
            .map(|found| found.map(|address| address.ip()).collect()),
    };
    let failed = |text| FetchError::new(Phase::Dial, Cause::DnsFailed, text);
    let found = found.map_err(|error| failed(format!("`{name}` does not resolve ({error})")))?;
    found
        .into_iter()
        .find(|ip| is_of(ip, Some(family)))
        .ok_or_else(|| failed(format!("`{name}` has no address of the family asked for")))
}

fn is_of(ip: &IpAddr, family: Option<Family>) -> bool {
    match family {
        None => true,
        Some(Family::V4) => ip.is_ipv4(),
        Some(Family::V6) => ip.is_ipv6(),
    }
}
