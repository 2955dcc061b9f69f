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

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use self::exchange::exchange;
use self::plan::Plan;
use crate::proxy_core::{Cause, FetchError, Phase, ProxyCore, Request, Response, Timing};

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
    let start = Instant::now();
    let deadline = start + request.deadline.min(LONGEST);
    let plan = Plan::of(request)?;

    let dialed = timeout_at(
        deadline + CORE_GRACE,
        core.dial(tag, &plan.target, deadline),
    )
    .await
    .unwrap_or_else(|_| Err(dial_timeout(&plan)))?;
    let mut timing = Timing {
        dns: dialed.dns,
        dial: start.elapsed(),
        ..Timing::default()
    };

    let Some(name) = plan.tls_name.clone() else {
        return exchange(dialed.stream, &plan, request, start, deadline, timing).await;
    };
    // Boxed like all that is large and not always needed: the rest is moved and polled.
    Box::pin(async move {
        let before_tls = Instant::now();
        let handshake = connect_tls(
            trust.client(),
            name,
            dialed.stream,
            Phase::Tls,
            plan.target.host.to_string(),
        );
        let stream = timeout_at(deadline, handshake)
            .await
            .unwrap_or_else(|_| Err(tls_timeout(&plan)))?;
        timing.tls = Some(before_tls.elapsed());
        exchange(stream, &plan, request, start, deadline, timing).await
    })
    .await
}

fn dial_timeout(plan: &Plan) -> FetchError {
    let text = format!("the connection to {} did not open in time", plan.target);
    FetchError::new(Phase::Dial, Cause::DialTimeout, text)
}

fn tls_timeout(plan: &Plan) -> FetchError {
    let text = format!("{} did not finish the TLS handshake in time", plan.target);
    FetchError::new(Phase::Tls, Cause::Timeout, text)
}
