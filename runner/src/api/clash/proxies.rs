//! All outbounds and groups, one of them, and a person's choice in a selector. It must not
//! know how delays are measured.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::answer::Refusal;
use super::proxy::{GLOBAL, Proxy};
use crate::api::source::Source;
use crate::proxy_core::SelectError;

/// By their names, as this surface has them: dashboards order groups by `GLOBAL`.
#[derive(Serialize)]
pub(super) struct Proxies {
    proxies: BTreeMap<String, Proxy>,
}

/// What is chosen.
#[derive(Deserialize)]
struct Choice {
    name: String,
}

pub(super) async fn all(State(source): State<Arc<Source>>) -> Json<Proxies> {
    let proxies = source.proxies().await.into_iter();
    let mut proxies: BTreeMap<_, _> = proxies.map(|one| (one.name.clone(), one)).collect();
    // What the config names so is its own.
    let global = || source.global(&source.listed());
    proxies.entry(GLOBAL.to_owned()).or_insert_with(global);
    Json(Proxies { proxies })
}

pub(super) async fn one(
    State(source): State<Arc<Source>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<Proxy>, Refusal> {
    let Path(name) = name?;
    source.proxy(&name).await.map(Json).ok_or(Refusal::NotFound)
}

pub(super) async fn select(
    State(source): State<Arc<Source>>,
    name: Result<Path<String>, PathRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Refusal> {
    let Path(name) = name?;
    source.proxy(&name).await.ok_or(Refusal::NotFound)?;
    // Not every client says that it sends JSON.
    let choice: Choice = serde_json::from_slice(&body?).map_err(|_| Refusal::Malformed)?;
    match source.select(&name, &choice.name) {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        // An outbound is no group that a person could choose in.
        Err(SelectError::NoSuchGroup(_) | SelectError::Fixed(_)) => {
            Err(Refusal::Bad("Must be a Selector".to_owned()))
        }
        Err(SelectError::NotAMember { .. }) => {
            Err(Refusal::Bad("Selector update error: not found".to_owned()))
        }
    }
}
