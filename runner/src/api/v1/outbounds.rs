//! Outbounds and endpoints: how they stand, and their tests. It must not know groups.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};

use crate::api::answer::Refusal;
use crate::api::source::Source;
use crate::monitor::Monitor;
use crate::proxy_core::Kind;
use crate::report::{Report, View};

/// A report with the last measurements.
#[derive(Serialize)]
pub(in crate::api) struct Outbound {
    #[serde(flatten)]
    report: Report,
    measurements: Vec<()>,
}

#[derive(Serialize)]
pub(in crate::api) struct Outbounds {
    pub(in crate::api) outbounds: Vec<Report>,
}

/// Which view is asked for.
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shown {
    #[default]
    Display,
    Confirmed,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Looking {
    view: Shown,
}

impl From<Looking> for View {
    fn from(looking: Looking) -> Self {
        match looking.view {
            Shown::Display => Self::Display,
            Shown::Confirmed => Self::Confirmed,
        }
    }
}

impl Outbound {
    /// Those of the reports that are of outbounds and endpoints, each with its measurements.
    pub(in crate::api) async fn with_measurements(
        _monitor: &Monitor,
        reports: Vec<Report>,
    ) -> Vec<Self> {
        let reports = reports.into_iter().filter(is_outbound);
        reports
            .map(|report| Self {
                report,
                measurements: Vec::new(),
            })
            .collect()
    }
}

pub(super) async fn all(
    State(source): State<Arc<Source>>,
    Query(looking): Query<Looking>,
) -> Json<Outbounds> {
    let mut outbounds = source.monitor.reports(looking.into()).await;
    outbounds.retain(is_outbound);
    Json(Outbounds { outbounds })
}

pub(super) async fn one(
    State(source): State<Arc<Source>>,
    tag: Result<Path<String>, PathRejection>,
    Query(looking): Query<Looking>,
) -> Result<Json<Outbound>, Refusal> {
    let Path(tag) = tag?;
    let report = source.monitor.report(&*tag, looking.into()).await;
    let report = report.ok_or_else(|| Refusal::no_such_tag(&tag))?;
    let found = Outbound::with_measurements(&source.monitor, vec![report]).await;
    let found = found.into_iter().next();
    found.map(Json).ok_or_else(|| is_a_group(&tag))
}

pub(super) async fn test(
    State(source): State<Arc<Source>>,
    tag: Result<Path<String>, PathRejection>,
) -> Result<Json<Report>, Refusal> {
    let Path(tag) = tag?;
    let tested = source.monitor.test(&*tag).await;
    tested
        .map(Json)
        .map_err(|error| Refusal::untested(&tag, &error))
}

fn is_outbound(report: &Report) -> bool {
    report.kind != Kind::Group
}

fn is_a_group(tag: &str) -> Refusal {
    let message = format!("`{tag}` is a group; it is found under `groups`");
    Refusal::not_found("is_a_group", message)
}
