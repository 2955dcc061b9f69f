//! Contract 0.1: what it says of an outbound, in the runner's words. It must not know who
//! asked.

use jiff::Timestamp;

use super::types;
use crate::report::{self, Report};

pub(super) fn report_in(report: types::Report) -> Report {
    Report {
        tag: report.tag,
        kind: match report.kind {
            types::OutboundKind::Outbound => crate::proxy_core::Kind::Outbound,
            types::OutboundKind::Endpoint => crate::proxy_core::Kind::Endpoint,
            types::OutboundKind::Group => crate::proxy_core::Kind::Group,
            types::OutboundKind::Untestable => crate::proxy_core::Kind::Untestable,
        },
        type_name: report.type_name,
        state: match report.state {
            types::State::Untested => report::State::Untested,
            types::State::Cached => report::State::Cached,
            types::State::Ok => report::State::Ok,
            types::State::Failed => report::State::Failed,
            types::State::NotReady => report::State::NotReady,
        },
        testing: report.testing,
        delay_ms: report.delay_ms,
        delay_source: report.delay_source.map(|source| match source {
            types::DelaySource::Url => report::DelaySource::Url,
            types::DelaySource::Ipinfo => report::DelaySource::IpInfo,
        }),
        warm: report.warm,
        url: report.url,
        tested_at: report.tested_at.and_then(timestamp_in),
        last_ok_at: report.last_ok_at.and_then(timestamp_in),
        age_ms: report.age_ms,
        from_cache: report.from_cache,
        miss: report.miss,
        error: report.error.map(failure_in),
        ip: report.ip.map(ip_info_in),
        ip_from_cache: report.ip_from_cache,
        ip_pending: report.ip_pending,
        ipv6: match report.ipv6 {
            types::Ipv6Support::Unknown => report::Ipv6::Unknown,
            types::Ipv6Support::Yes => report::Ipv6::Yes,
            types::Ipv6Support::No => report::Ipv6::No,
        },
        ipv6_source: report.ipv6_source.map(|source| match source {
            types::Ipv6Source::Declared => report::Ipv6Source::Declared,
            types::Ipv6Source::Verified => report::Ipv6Source::Verified,
        }),
        status_text: report.status_text,
        reason: report.reason.map(reason_in),
        attempts: report.attempts,
        via: report.via,
        stats: report::Stats {
            count: report.stats.count,
            failed: report.stats.failed,
            mean_ms: report.stats.mean_ms,
            jitter_ms: report.stats.jitter_ms,
        },
        revision: report.revision,
        extra: report.extra,
    }
}

fn timestamp_in(wall_ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(wall_ms).ok()?).ok()
}

fn ip_info_in(ip: types::IpInfo) -> report::IpInfo {
    report::IpInfo {
        ip: ip.ip,
        country_code: ip.country_code,
        region: ip.region,
        city: ip.city,
        asn: ip.asn,
        org: ip.org,
        service: ip.service,
        tls: ip.tls,
    }
}

fn failure_in(failure: types::TestFailure) -> report::Failure {
    report::Failure {
        kind: error_kind_in(failure.kind),
        text: failure.text,
    }
}

pub(super) fn measurements_in(measurements: Vec<types::Measurement>) -> Vec<report::Measurement> {
    let measurement = |one: types::Measurement| {
        Some(report::Measurement {
            at: timestamp_in(one.at)?,
            delay_ms: one.outcome.ok(),
            error: one.outcome.err().map(error_kind_in),
        })
    };
    measurements.into_iter().filter_map(measurement).collect()
}

fn error_kind_in(kind: types::ErrorKind) -> report::ErrorKind {
    use types::ErrorKind as Kind;
    match kind {
        Kind::DialRefused => report::ErrorKind::DialRefused,
        Kind::DialTimeout => report::ErrorKind::DialTimeout,
        Kind::DnsFail => report::ErrorKind::DnsFail,
        Kind::DnsTimeout => report::ErrorKind::DnsTimeout,
        Kind::NoRoute => report::ErrorKind::NoRoute,
        Kind::ProxyAuth => report::ErrorKind::ProxyAuth,
        Kind::ProxyHandshake => report::ErrorKind::ProxyHandshake,
        Kind::TlsFail => report::ErrorKind::TlsFail,
        Kind::TlsCert => report::ErrorKind::TlsCert,
        Kind::HttpStatus => report::ErrorKind::HttpStatus,
        Kind::HttpMalformed => report::ErrorKind::HttpMalformed,
        Kind::Eof => report::ErrorKind::Eof,
        Kind::Reset => report::ErrorKind::Reset,
        Kind::Timeout => report::ErrorKind::Timeout,
        Kind::Stuck => report::ErrorKind::Stuck,
        Kind::Canceled => report::ErrorKind::Canceled,
        Kind::Unsupported => report::ErrorKind::Unsupported,
        Kind::Other => report::ErrorKind::Other,
    }
}

fn reason_in(reason: types::Reason) -> report::Reason {
    use report::Reason;
    match reason {
        types::Reason::Start => Reason::Start,
        types::Reason::Cycle => Reason::Cycle,
        types::Reason::NextUrl => Reason::NextUrl,
        types::Reason::Asked => Reason::Asked,
        types::Reason::ConnectionFailed => Reason::ConnectionFailed,
        types::Reason::Switched => Reason::Switched,
        types::Reason::Depends => Reason::Depends,
        types::Reason::Ready => Reason::Ready,
        types::Reason::Recovered => Reason::Recovered,
        types::Reason::Network => Reason::Network,
        types::Reason::Retry => Reason::Retry,
        types::Reason::Reload => Reason::Reload,
        types::Reason::Resume => Reason::Resume,
    }
}
