//! What a monitor knows, as Prometheus reads it: every metric, what it means, and where it is
//! taken from. It must not know how a line is written.

mod text;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use super::groups::Group;
use super::source::Source;
use crate::proxy_core::Kind;
use crate::report::{Ipv6, Report, State as Known, View};

use text::{Kind as Of, Text};

/// The text format of Prometheus that everything reads.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The states in which an outbound can be.
const STATES: [Known; 5] = [
    Known::Untested,
    Known::Cached,
    Known::Ok,
    Known::Failed,
    Known::NotReady,
];

pub(super) async fn all(State(source): State<Arc<Source>>) -> Response {
    // Groups choose by the confirmed results, and so do those who are woken at night.
    let reports = source.monitor.reports(View::Confirmed).await;
    let (groups, outbounds): (Vec<_>, Vec<_>) = reports
        .iter()
        .partition(|report| report.kind == Kind::Group);
    let groups = source.groups_of(groups.into_iter().cloned());
    let mut text = Text::default();
    programs(&source, &mut text);
    tests(&outbounds, &mut text);
    recent(&outbounds, &mut text);
    exits(&outbounds, &mut text);
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

fn tests(outbounds: &[&Report], text: &mut Text) {
    text.metric(
        "outwatch_outbounds",
        Of::Gauge,
        "How many outbounds and endpoints there are, by what is known of them.",
    );
    for state in STATES {
        let count = outbounds.iter().filter(|report| report.state == state);
        text.line(&[("state", state.as_str())], bytes(count.count()));
    }
    text.metric(
        "outwatch_probe_success",
        Of::Gauge,
        "Whether the last test of this run answered; absent before the first.",
    );
    for report in outbounds {
        if let Some(success) = success(report) {
            text.line(&named(report), success);
        }
    }
    text.metric(
        "outwatch_probe_duration_seconds",
        Of::Gauge,
        "The delay that the last test of this run measured; absent when it failed.",
    );
    for report in outbounds {
        if let Some(seconds) = duration(report) {
            text.line(&named(report), seconds);
        }
    }
    text.metric(
        "outwatch_probe_error_info",
        Of::Gauge,
        "Why the last test of this run failed; absent when it answered.",
    );
    for report in outbounds {
        if let Some(error) = report
            .error
            .as_ref()
            .filter(|_| report.state == Known::Failed)
        {
            let [outbound, of_type] = named(report);
            text.line(&[outbound, of_type, ("error", error.kind.as_str())], 1.0);
        }
    }
    for (name, help, at) in [
        (
            "outwatch_probe_last_timestamp_seconds",
            "When the last result was measured.",
            (|report: &Report| report.tested_at) as fn(&Report) -> Option<Timestamp>,
        ),
        (
            "outwatch_probe_last_success_timestamp_seconds",
            "When a test last answered, in an earlier run maybe.",
            |report: &Report| report.last_ok_at,
        ),
    ] {
        text.metric(name, Of::Gauge, help);
        for report in outbounds {
            if let Some(at) = at(report) {
                text.line(&named(report), at.as_duration().as_secs_f64());
            }
        }
    }
}

/// Figures over the last measurements of this run, at most 32.
fn recent(outbounds: &[&Report], text: &mut Text) {
    type Figure = fn(&Report) -> Option<f64>;
    let figures: [(&str, &str, Figure); 4] = [
        (
            "outwatch_probe_recent_tests",
            "How many of the last 32 tests there were in this run.",
            |report| Some(report.stats.count.into()),
        ),
        (
            "outwatch_probe_recent_failures",
            "How many of them failed.",
            |report| Some(report.stats.failed.into()),
        ),
        (
            "outwatch_probe_recent_duration_mean_seconds",
            "Mean delay of those that answered.",
            |report| report.stats.mean_ms.map(seconds),
        ),
        (
            "outwatch_probe_recent_jitter_seconds",
            "Mean difference of neighbouring delays.",
            |report| report.stats.jitter_ms.map(seconds),
        ),
    ];
    for (name, help, figure) in figures {
        text.metric(name, Of::Gauge, help);
        for report in outbounds.iter().filter(|report| report.stats.count > 0) {
            if let Some(value) = figure(report) {
                text.line(&named(report), value);
            }
        }
    }
}

fn exits(outbounds: &[&Report], text: &mut Text) {
    text.metric(
        "outwatch_exit_info",
        Of::Gauge,
        "Where the traffic of an outbound comes out; cached if not confirmed in this run.",
    );
    for report in outbounds {
        let Some(ip) = &report.ip else {
            continue;
        };
        let asn = ip.asn.map(|asn| asn.to_string());
        let [outbound, of_type] = named(report);
        let labels = [
            outbound,
            of_type,
            ("ip", &ip.ip),
            ("country", ip.country_code.as_deref().unwrap_or_default()),
            ("asn", asn.as_deref().unwrap_or_default()),
            ("org", ip.org.as_deref().unwrap_or_default()),
            (
                "cached",
                if report.ip_from_cache {
                    "true"
                } else {
                    "false"
                },
            ),
        ];
        text.line(&labels, 1.0);
    }
    text.metric(
        "outwatch_outbound_ipv6",
        Of::Gauge,
        "Whether an outbound carries IPv6; absent when unknown.",
    );
    for report in outbounds {
        match report.ipv6 {
            Ipv6::Unknown => {}
            Ipv6::Yes => text.line(&named(report), 1.0),
            Ipv6::No => text.line(&named(report), 0.0),
        }
    }
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
            success as fn(&Report) -> Option<f64>,
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

/// What tells an outbound from others.
fn named(report: &Report) -> [(&'static str, &str); 2] {
    [("outbound", &report.tag), ("type", &report.type_name)]
}

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
