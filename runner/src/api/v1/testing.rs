//! Tests that are asked for, of one outbound, a group or all: answered when the results are
//! there, or each as it comes. It must not know how a test is carried out.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use super::groups::no_such_group;
use super::outbounds::{Outbounds, is_a_group, is_outbound};
use crate::api::answer::Refusal;
use crate::api::source::Source;
use crate::monitor::Monitor;
use crate::proxy_core::Kind;
use crate::report::{Report, View};

/// One JSON value in each line.
const LINES: &str = "application/x-ndjson";

pub(super) async fn of_outbound(
    State(source): State<Arc<Source>>,
    tag: Result<Path<String>, PathRejection>,
) -> Result<Json<Report>, Refusal> {
    let Path(tag) = tag?;
    let known = source.monitor.report(&*tag, View::Confirmed).await;
    if known.is_some_and(|report| !is_outbound(&report)) {
        return Err(is_a_group(&tag));
    }
    test(&source.monitor, &tag).await.map(Json)
}

pub(super) async fn of_group(
    State(source): State<Arc<Source>>,
    tag: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Path(tag) = tag?;
    let known = source.monitor.report(&*tag, View::Confirmed).await;
    if !known.is_some_and(|report| report.kind == Kind::Group) {
        return Err(no_such_group(&tag));
    }
    if wants_lines(&headers) {
        return Ok(as_they_come(&source, source.leaves(&tag).await));
    }
    let report = test(&source.monitor, &tag).await?;
    Ok(Json(report).into_response())
}

pub(super) async fn of_all(State(source): State<Arc<Source>>, headers: HeaderMap) -> Response {
    let reports = source.monitor.reports(View::Confirmed).await;
    let outbounds = reports.into_iter().filter(is_outbound);
    let tags = outbounds.map(|report| report.tag).collect();
    if wants_lines(&headers) {
        return as_they_come(&source, tags);
    }
    let mut tests = each(&source.monitor, tags);
    while tests.next().await.is_some() {}
    let mut outbounds = source.monitor.reports(View::Confirmed).await;
    outbounds.retain(is_outbound);
    Json(Outbounds { outbounds }).into_response()
}

async fn test(monitor: &Monitor, tag: &str) -> Result<Report, Refusal> {
    let tested = monitor.test(tag).await;
    tested.map_err(|error| Refusal::untested(tag, &error))
}

/// The report of each as its test is over.
fn each(
    monitor: &Monitor,
    tags: Vec<String>,
) -> FuturesUnordered<impl Future<Output = Option<Report>> + Send + use<>> {
    let tests = tags.into_iter();
    tests.map(|tag| outcome(monitor.clone(), tag)).collect()
}

/// The report after a test. What cannot be tested now has one too.
async fn outcome(monitor: Monitor, tag: String) -> Option<Report> {
    match monitor.test(&*tag).await {
        Ok(report) => Some(report),
        Err(_) => monitor.report(tag, View::Confirmed).await,
    }
}

/// One report in each line, as soon as it is there. Tests whose reader goes away run on.
fn as_they_come(source: &Arc<Source>, tags: Vec<String>) -> Response {
    let lines = each(&source.monitor, tags).filter_map(async |report| {
        let mut line = serde_json::to_vec(&report?).ok()?;
        line.push(b'\n');
        Some(Ok::<_, Infallible>(line))
    });
    let ending = source.ending.clone();
    let lines = lines.take_until(ending.cancelled_owned());
    let mut response = Body::from_stream(lines).into_response();
    let lines = HeaderValue::from_static(LINES);
    response.headers_mut().insert(header::CONTENT_TYPE, lines);
    response
}

fn wants_lines(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.contains(LINES))
}
