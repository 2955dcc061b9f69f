//! Groups alone. It must not know outbounds.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use serde::Serialize;

use super::answer::Refusal;
use super::proxy::Proxy;
use crate::api::source::Source;

#[derive(Serialize)]
pub(super) struct Groups {
    proxies: Vec<Proxy>,
}

pub(super) async fn all(State(source): State<Arc<Source>>) -> Json<Groups> {
    let mut proxies = source.proxies().await;
    proxies.retain(Proxy::is_group);
    Json(Groups { proxies })
}

pub(super) async fn one(
    State(source): State<Arc<Source>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<Proxy>, Refusal> {
    let Path(name) = name?;
    let found = source.proxy(&name).await.filter(Proxy::is_group);
    found.map(Json).ok_or(Refusal::NotFound)
}
