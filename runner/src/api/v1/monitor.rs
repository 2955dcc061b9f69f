//! The monitor itself: its options, and what it is told of the host. It must not know
//! outbounds.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api::answer::Refusal;
use crate::api::source::Source;

/// The options in force, which the engine gives as JSON.
pub(super) async fn options(State(source): State<Arc<Source>>) -> Result<Response, Refusal> {
    let options = source.monitor.options().await;
    let options = options.ok_or_else(Refusal::stopped)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], options).into_response())
}

pub(super) async fn network_changed(State(source): State<Arc<Source>>) -> StatusCode {
    source.monitor.network_changed();
    StatusCode::NO_CONTENT
}
