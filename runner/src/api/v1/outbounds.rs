//! Outbounds and endpoints, and how they stand. It must not know groups.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};

use crate::api::answer::Refusal;
use crate::api::source::Source;
use crate::monitor::Monitor;
use crate::proxy_core::Kind;
use crate::report::{Measurement, Report, View};

/// A report with the last measurements.
#[derive(Serialize)]
pub(in crate::api) struct Outbound {
    #[serde(flatten)]
    report: Report,
    measurements: Vec<Measurement>,
}

#[derive(Serialize)]
pub(super) struct Outbounds {
    pub(super) outbounds: Vec<Report>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Looking {
    view: Shown,
}

/// Which view is asked for.
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shown {
    #[default]
    Display,
    Confirmed,
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
        monitor: &Monitor,
        mut reports: Vec<Report>,
    ) -> Vec<Self> {
        reports.retain(is_outbound);
        let tags = reports.iter().map(|report| report.tag.clone()).collect();
        let measurements = monitor.measurements(tags).await;
        let all = reports.into_iter().zip(measurements);
        all.map(|(report, measurements)| Self {
            report,
            measurements,
        })
        .collect()
    }
}

pub(super) async fn all(
    State(source): State<Arc<Source>>,
    looking: Result<Query<Looking>, QueryRejection>,
) -> Result<Json<Outbounds>, Refusal> {
    let Query(looking) = looking?;
    let mut outbounds = source.monitor.reports(looking.into()).await;
    outbounds.retain(is_outbound);
    Ok(Json(Outbounds { outbounds }))
}

pub(super) async fn one(
    State(source): State<Arc<Source>>,
    tag: Result<Path<String>, PathRejection>,
    looking: Result<Query<Looking>, QueryRejection>,
) -> Result<Json<Outbound>, Refusal> {
    let (Path(tag), Query(looking)) = (tag?, looking?);
    let report = source.monitor.report(&*tag, looking.into()).await;
    let report = report.ok_or_else(|| Refusal::no_such_tag(&tag))?;
    let found = Outbound::with_measurements(&source.monitor, vec![report]).await;
    let found = found.into_iter().next();
    found.map(Json).ok_or_else(|| is_a_group(&tag))
}

pub(super) fn is_outbound(report: &Report) -> bool {
    report.kind != Kind::Group
}

pub(super) fn is_a_group(tag: &str) -> Refusal {
    let message = format!("`{tag}` is a group; it is found under `groups`");
    Refusal::not_found("is_a_group", message)
}
