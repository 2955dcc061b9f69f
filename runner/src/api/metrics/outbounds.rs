//! The metrics of outbounds: their last tests, what those before were like, and their exits.
//! It must not know where reports come from.

use jiff::Timestamp;

use super::text::{Kind as Of, Text};
use super::{Figure, bytes, duration, seconds, success};
use crate::report::{Ipv6, Report, State as Known};

/// The states in which an outbound can be.
const STATES: [Known; 5] = [
    Known::Untested,
    Known::Cached,
    Known::Ok,
    Known::Failed,
    Known::NotReady,
];

/// What the last test of each came to.
pub(super) fn tests(outbounds: &[&Report], text: &mut Text) {
    text.metric(
        "outwatch_outbounds",
        Of::Gauge,
        "How many outbounds and endpoints there are, by what is known of them.",
    );
    for state in STATES {
        let count = outbounds.iter().filter(|report| report.state == state);
        text.line(&[("state", state.as_str())], bytes(count.count()));
    }
    gauges(
        outbounds,
        text,
        &[
            (
                "outwatch_probe_success",
                "Whether the last test of this run answered; absent before the first.",
                success,
            ),
            (
                "outwatch_probe_duration_seconds",
                "The delay that the last test of this run measured; absent when it failed.",
                duration,
            ),
        ],
    );
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
    gauges(
        outbounds,
        text,
        &[
            (
                "outwatch_probe_last_timestamp_seconds",
                "When the last result was measured.",
                |report| report.tested_at.map(moment),
            ),
            (
                "outwatch_probe_last_success_timestamp_seconds",
                "When a test last answered, in an earlier run maybe.",
                |report| report.last_ok_at.map(moment),
            ),
        ],
    );
}

/// Figures over the last measurements of this run, at most 32.
pub(super) fn recent(outbounds: &[&Report], text: &mut Text) {
    let measured = outbounds.iter().filter(|report| report.stats.count > 0);
    gauges(
        &Vec::from_iter(measured.copied()),
        text,
        &[
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
        ],
    );
}

/// Where each comes out.
pub(super) fn exits(outbounds: &[&Report], text: &mut Text) {
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
    gauges(
        outbounds,
        text,
        &[(
            "outwatch_outbound_ipv6",
            "Whether an outbound carries IPv6; absent when unknown.",
            |report| match report.ipv6 {
                Ipv6::Unknown => None,
                Ipv6::Yes => Some(1.0),
                Ipv6::No => Some(0.0),
            },
        )],
    );
}

/// Metrics of outbounds: of each its name, what it means, and its figure.
fn gauges(outbounds: &[&Report], text: &mut Text, all: &[(&'static str, &str, Figure)]) {
    for (name, help, figure) in all {
        text.metric(name, Of::Gauge, help);
        for report in outbounds {
            if let Some(value) = figure(report) {
                text.line(&named(report), value);
            }
        }
    }
}

/// What tells an outbound from others.
fn named(report: &Report) -> [(&'static str, &str); 2] {
    [("outbound", &report.tag), ("type", &report.type_name)]
}

fn moment(at: Timestamp) -> f64 {
    at.as_duration().as_secs_f64()
}
