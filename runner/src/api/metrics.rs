//! What a monitor knows, as Prometheus reads it: every metric, what it means, and where it is
//! taken from. It must not know how a line is written.

mod outbounds;
mod text;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::groups::Group;
use super::source::Source;
use crate::proxy_core::Kind;
use crate::report::{Report, State as Known, View};

use text::{Kind as Of, Text};

/// The text format of Prometheus that everything reads.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn all(State(source): State<Arc<Source>>) -> Response {
    // Groups choose by the confirmed results, and so do those who are woken at night.
    let reports = source.monitor.reports(View::Confirmed).await;
    let (groups, outbounds): (Vec<_>, Vec<_>) = reports
        .iter()
        .partition(|report| report.kind == Kind::Group);
    let groups = source.groups_of(groups.into_iter().cloned());
    let mut text = Text::default();
    programs(&source, &mut text);
    outbounds::tests(&outbounds, &mut text);
    outbounds::recent(&outbounds, &mut text);
    outbounds::exits(&outbounds, &mut text);
    groups_lead(&groups, &mut text);
    traffic(&source, &mut text);
    ([(header::CONTENT_TYPE, FORMAT)], text.finish()).into_response()
}

fn programs(source: &Source, text: &mut Text) {
    text.metric(
        "outwatch_build_info",
        Of::Gauge,
        "The version of Outwatch that runs.",
    )
    .line(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    let component = source.monitor.component();
    text.metric("outwatch_engine_info", Of::Gauge, "The engine that runs.")
        .line(
            &[
                ("version", component.version().unwrap_or_default()),
                ("contract", component.contract()),
                ("sha256", component.sha256()),
            ],
            1.0,
        );
    text.metric(
        "outwatch_engine_memory_bytes",
        Of::Gauge,
        "Memory of the engine; 0 while none runs.",
    )
    .line(&[], bytes(source.monitor.memory()));
}

fn groups_lead(groups: &[Group], text: &mut Text) {
    text.metric(
        "outwatch_group_members",
        Of::Gauge,
        "How many members a group has.",
    );
    for group in groups {
        let of_type = ("type", group.type_name());
        text.line(
            &[("group", group.tag()), of_type],
            bytes(group.members().len()),
        );
    }
    text.metric(
        "outwatch_group_selected",
        Of::Gauge,
        "The member that a group leads to; absent when it chooses for each connection anew.",
    );
    for group in groups {
        for (network, member) in group.selected() {
            let of_type = ("type", group.type_name());
            let member = ("member", member);
            text.line(
                &[
                    ("group", group.tag()),
                    of_type,
                    ("network", network),
                    member,
                ],
                1.0,
            );
        }
    }
    for (name, help, figure) in [
        (
            "outwatch_group_success",
            "Whether what a group leads to works; absent before its first result.",
            success as Figure,
        ),
        (
            "outwatch_group_duration_seconds",
            "The delay of what a group leads to.",
            duration,
        ),
    ] {
        text.metric(name, Of::Gauge, help);
        for group in groups {
            if let Some(value) = figure(group.report()) {
                let of_type = ("type", group.type_name());
                text.line(&[("group", group.tag()), of_type], value);
            }
        }
    }
}

fn traffic(source: &Source, text: &mut Text) {
    text.metric(
        "outwatch_connections",
        Of::Gauge,
        "How many connections of users are open.",
    )
    .line(&[], bytes(source.connections.open().len()));
    let carried = source.connections.carried();
    text.metric(
        "outwatch_traffic_bytes_total",
        Of::Counter,
        "Bytes that users' connections carried.",
    );
    text.line(&[("direction", "up")], count(carried.up));
    text.line(&[("direction", "down")], count(carried.down));
}

/// What is known of one outbound or group as a number; none where it is absent.
type Figure = fn(&Report) -> Option<f64>;

fn success(report: &Report) -> Option<f64> {
    match report.state {
        Known::Ok => Some(1.0),
        Known::Failed => Some(0.0),
        Known::Untested | Known::Cached | Known::NotReady => None,
    }
}

fn duration(report: &Report) -> Option<f64> {
    let delay = report.delay_ms.filter(|_| report.state == Known::Ok);
    delay.map(seconds)
}

fn seconds(ms: u32) -> f64 {
    Duration::from_millis(ms.into()).as_secs_f64()
}

fn bytes(count: usize) -> f64 {
    self::count(count as u64)
}

#[allow(
    clippy::cast_precision_loss,
    reason = "Prometheus knows no other numbers"
)]
fn count(count: u64) -> f64 {
    count as f64
}
