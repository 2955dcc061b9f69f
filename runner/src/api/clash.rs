//! The surface of Clash's API, as sing-box and mihomo have it: dashboards and tools that
//! people have talk to Outwatch by it. It must not know who may ask, beyond how such a client
//! is told that it may not.
//!
//! What differs from a core that measures for itself: delays are the monitor's. A client that
//! asks for a delay has it tested, by the monitor's addresses and not by the client's.

mod answer;
mod configs;
mod connections;
mod delay;
mod feed;
mod groups;
mod logs;
mod proxies;
mod proxy;
mod rates;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};

use super::guard::Guard;
use super::source::Source;

use answer::Refusal;

/// The paths of this surface, but `/`.
pub(super) fn router() -> Router<Arc<Source>> {
    Router::new()
        .route("/version", get(configs::version))
        .route(
            "/configs",
            get(configs::all).patch(configs::change).put(configs::load),
        )
        .route("/rules", get(configs::rules))
        .route("/providers/proxies", get(configs::proxy_providers))
        .route("/providers/rules", get(configs::rule_providers))
        .route("/dns/query", get(configs::resolve))
        .route("/cache/fakeip/flush", post(configs::flush))
        .route("/cache/dns/flush", post(configs::flush))
        .route("/proxies", get(proxies::all))
        .route("/proxies/{name}", get(proxies::one).put(proxies::select))
        .route("/proxies/{name}/delay", get(delay::of_proxy))
        .route("/group", get(groups::all))
        .route("/group/{name}", get(groups::one))
        .route("/group/{name}/delay", get(delay::of_group))
        .route(
            "/connections",
            get(connections::all).delete(connections::close_all),
        )
        .route("/connections/{id}", delete(connections::close))
        .route("/traffic", get(rates::traffic))
        .route("/memory", get(rates::memory))
        .route("/logs", get(logs::lines))
}

/// Lets nobody further who does not know the secret, in the words of this surface.
pub(super) async fn with_secret(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    if guard.knows(&request) {
        return next.run(request).await;
    }
    Refusal::Unauthorized.into_response()
}
