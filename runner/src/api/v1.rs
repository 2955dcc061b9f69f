//! The API of Outwatch's own, version 1. What it answers has fields added, never renamed.
//! It must not know who may ask.

mod events;
mod groups;
mod outbounds;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post, put};

use super::source::Source;

pub(super) use outbounds::Outbound;

/// The paths of this version.
pub(super) fn router() -> Router<Arc<Source>> {
    Router::new()
        .route("/outbounds", get(outbounds::all))
        .route("/outbounds/{tag}", get(outbounds::one))
        .route("/outbounds/{tag}/test", post(outbounds::test))
        .route("/groups", get(groups::all))
        .route("/groups/{tag}", get(groups::one))
        .route("/groups/{tag}/selected", put(groups::select))
        .route("/events", get(events::events))
}
