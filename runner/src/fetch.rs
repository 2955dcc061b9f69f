//! One HTTP exchange over a stream dialed through an outbound.
//! It must not know which outbound that is, nor what the answer is for.

mod exchange;
mod failure;
mod head;
mod plan;
#[cfg(test)]
mod tests;
mod tls;
mod trust;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use self::exchange::exchange;
use self::plan::Plan;
use crate::proxy_core::{
    Cause, Dialed, FetchError, Phase, ProxyCore, Request, Response, Target, Timing,
};

pub(crate) use self::failure::{inner, of_http, of_io};
pub(crate) use self::tls::{connect as connect_tls, provider};
pub use self::trust::{Trust, TrustError};

/// A core that honours its deadline says more exactly what it was waiting for, so it
/// gets this long to say so before the fetch answers in its place.
const CORE_GRACE: Duration = Duration::from_millis(20);

/// Longer deadlines are cut to this, so that no sum of times overflows.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Dials, does TLS if the URL wants it, and speaks HTTP/1.1, all within
/// `request.deadline` from this call.
///
/// The connection is new and lives inside the future: dropping it closes the
/// stream. No redirect is followed. A failed or late second round trip
/// ([`Request::repeat`]) costs nothing but [`Timing::repeat`].
///
/// # Errors
/// Those of `core.dial`; those of TLS with the URL's host; those of HTTP. A URL,
/// method or header that cannot be sent is [`Cause::Unsupported`].
pub async fn through_dial<C: ProxyCore + ?Sized>(
    core: &C,
    tag: &str,
    request: &Request,
    trust: &Trust,
) -> Result<Response, FetchError> {
    let fetch = Fetch::begin(request, trust)?;
    let (target, deadline) = (fetch.target(), fetch.deadline);
    let dialed = timeout_at(deadline + CORE_GRACE, core.dial(tag, target, deadline))
        .await
        .unwrap_or_else(|_| Err(dial_timeout(target)))?;
    fetch.over(dialed).await
}

/// An exchange whose time runs, while its caller dials.
pub(crate) struct Fetch<'a> {
    request: &'a Request,
    trust: &'a Trust,
    plan: Arc<Plan>,
    start: Instant,
    deadline: Instant,
}

impl<'a> Fetch<'a> {
    /// # Errors
    /// As [`through_dial`] has it, where the request cannot be sent.
    pub(crate) fn begin(request: &'a Request, trust: &'a Trust) -> Result<Self, FetchError> {
        let start = Instant::now();
        Ok(Self {
            request,
            trust,
            plan: Plan::of(request)?,
            start,
            deadline: start + request.deadline.min(LONGEST),
        })
    }

    /// What is to be dialed.
    pub(crate) fn target(&self) -> &Target {
        &self.plan.target
    }

    /// When all has to be over.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The rest of it, over what was dialed.
    pub(crate) async fn over(self, dialed: Dialed) -> Result<Response, FetchError> {
        let mut timing = Timing {
            dns: dialed.dns,
            dial: self.start.elapsed(),
            ..Timing::default()
        };
        let Some(name) = self.plan.tls_name.clone() else {
            return exchange(dialed.stream, &self, timing).await;
        };
        // Boxed like all that is large and not always needed: the rest is moved and polled.
        Box::pin(async move {
            let before_tls = Instant::now();
            let handshake = connect_tls(
                self.trust.client(),
                name,
                dialed.stream,
                Phase::Tls,
                self.target().host.to_string(),
            );
            let stream = timeout_at(self.deadline, handshake)
                .await
                .unwrap_or_else(|_| Err(tls_timeout(self.target())))?;
            timing.tls = Some(before_tls.elapsed());
            exchange(stream, &self, timing).await
        })
        .await
    }
}

fn dial_timeout(target: &Target) -> FetchError {
    let text = format!("the connection to {target} did not open in time");
    FetchError::new(Phase::Dial, Cause::DialTimeout, text)
}

fn tls_timeout(target: &Target) -> FetchError {
    let text = format!("{target} did not finish the TLS handshake in time");
    FetchError::new(Phase::Tls, Cause::Timeout, text)
}
