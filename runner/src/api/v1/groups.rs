//! Groups: how they stand, and choosing in them. It must not know how they choose.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};

use crate::api::answer::Refusal;
use crate::api::groups::Group;
use crate::api::source::Source;
use crate::report::View;

#[derive(Serialize)]
pub(super) struct Groups {
    groups: Vec<Group>,
}

/// The member that a person chooses.
#[derive(Deserialize)]
struct Choice {
    tag: String,
}

pub(super) async fn all(State(source): State<Arc<Source>>) -> Json<Groups> {
    let reports = source.monitor.reports(View::Display).await;
    let groups = source.groups_of(reports);
    Json(Groups { groups })
}

pub(super) async fn one(
    State(source): State<Arc<Source>>,
    tag: Result<Path<String>, PathRejection>,
) -> Result<Json<Group>, Refusal> {
    let Path(tag) = tag?;
    let group = source.group(&tag).await;
    group.map(Json).ok_or_else(|| no_such_group(&tag))
}

pub(super) async fn select(
    State(source): State<Arc<Source>>,
    tag: Result<Path<String>, PathRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Group>, Refusal> {
    let Path(tag) = tag?;
    let choice: Choice = serde_json::from_slice(&body?).map_err(|error| {
        let message = format!("expected `{{\"tag\": \"a member\"}}` in the body: {error}");
        Refusal::bad_request("bad_body", message)
    })?;
    source.select(&tag, &choice.tag)?;
    let group = source.group(&tag).await;
    group.map(Json).ok_or_else(|| no_such_group(&tag))
}

pub(super) fn no_such_group(tag: &str) -> Refusal {
    Refusal::not_found("no_such_tag", format!("no group is named `{tag}`"))
}
