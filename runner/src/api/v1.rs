//! The API of Outwatch's own, version 1. What it answers has fields added, never renamed.
//! It must not know who may ask.

mod engine;
mod events;
mod groups;
mod monitor;
mod openapi;
mod outbounds;
mod testing;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post, put};

use super::source::Source;

pub(super) use outbounds::Outbound;

/// The largest component that is taken, in bytes; the engine is a twentieth of it.
const COMPONENT_LIMIT: usize = 16 * 1024 * 1024;

/// The paths of this version.
pub(super) fn router() -> Router<Arc<Source>> {
    let engine = get(engine::identity)
        .put(engine::replace)
        .layer(DefaultBodyLimit::max(COMPONENT_LIMIT));
    Router::new()
        .route("/outbounds", get(outbounds::all))
        .route("/outbounds/{tag}", get(outbounds::one))
        .route("/outbounds/{tag}/test", post(testing::of_outbound))
        .route("/groups", get(groups::all))
        .route("/groups/{tag}", get(groups::one))
        .route("/groups/{tag}/test", post(testing::of_group))
        .route("/groups/{tag}/selected", put(groups::select))
        .route("/test", post(testing::of_all))
        .route("/options", get(monitor::options))
        .route("/network-changed", post(monitor::network_changed))
        .route("/engine", engine)
        .route("/events", get(events::events))
        .route("/openapi.json", get(openapi::document))
}
