//! Contract 0.1: its bindings, and its types to the runner's own and back. It must
//! not do anything with them.

mod exports;

use jiff::Timestamp;

use crate::proxy_core::{self, Cause};
use crate::report::{self, Report};

use bindings::exports::outwatch::monitor::{control, hooks};
pub(crate) use bindings::outwatch::monitor::{cache, log, outbounds, types};
pub(crate) use exports::fit;

use bindings::{Monitor as World, MonitorPre as WorldPre};

use bindings::wasi::http::types::{DnsErrorPayload, ErrorCode, Method};

/// What `wit/` looks like in Rust.
#[allow(missing_docs, unreachable_pub, reason = "generated")]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "outwatch:monitor/monitor",
        exports: { default: async | store },
        with: {
            "wasi:clocks/monotonic-clock": wasmtime_wasi::p3::bindings::clocks::monotonic_clock,
            "wasi:clocks/system-clock": wasmtime_wasi::p3::bindings::clocks::system_clock,
            "wasi:clocks/types": wasmtime_wasi::p3::bindings::clocks::types,
            "wasi:random/random": wasmtime_wasi::p3::bindings::random::random,
        },
    });
}

pub(crate) fn outbound_out(outbound: proxy_core::Outbound) -> types::Outbound {
    let flags = if outbound.exit_follows_host {
        types::OutboundFlags::EXIT_FOLLOWS_HOST
    } else {
        types::OutboundFlags::empty()
    };
    types::Outbound {
        tag: outbound.tag,
        type_name: outbound.type_name,
        kind: match outbound.kind {
            proxy_core::Kind::Outbound => types::OutboundKind::Outbound,
            proxy_core::Kind::Endpoint => types::OutboundKind::Endpoint,
            proxy_core::Kind::Group => types::OutboundKind::Group,
            proxy_core::Kind::Untestable => types::OutboundKind::Untestable,
        },
        detour: outbound.detour,
        members: outbound.members,
        networks: outbound.networks.into_iter().map(network_out).collect(),
        fingerprint: outbound.fingerprint,
        flags,
    }
}

fn network_out(network: proxy_core::Network) -> types::Network {
    match network {
        proxy_core::Network::Tcp => types::Network::Tcp,
        proxy_core::Network::Udp => types::Network::Udp,
    }
}

pub(crate) fn network_in(network: types::Network) -> proxy_core::Network {
    match network {
        types::Network::Tcp => proxy_core::Network::Tcp,
        types::Network::Udp => proxy_core::Network::Udp,
    }
}

pub(crate) fn readiness_out(readiness: proxy_core::Readiness) -> types::Readiness {
    match readiness {
        proxy_core::Readiness::Ready => types::Readiness::Ready,
        proxy_core::Readiness::NotReady(text) => types::Readiness::NotReady(text),
        proxy_core::Readiness::Unsupported(text) => types::Readiness::Unsupported(text),
    }
}

pub(crate) fn request_in(request: outbounds::Request) -> proxy_core::Request {
    proxy_core::Request {
        url: request.url,
        method: method_name(request.method),
        headers: request.headers,
        deadline: std::time::Duration::from_nanos(request.deadline),
        body_limit: request.body_limit,
        response_headers: request.response_headers,
        repeat: request.repeat,
        family: request.family.map(|family| match family {
            outbounds::Family::Ipv4 => proxy_core::Family::V4,
            outbounds::Family::Ipv6 => proxy_core::Family::V6,
        }),
    }
}

fn method_name(method: Method) -> String {
    let name = match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(name) => return name,
    };
    name.to_owned()
}

pub(crate) fn response_out(response: proxy_core::Response) -> outbounds::Response {
    let nanos =
        |duration: std::time::Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let timing = response.timing;
    outbounds::Response {
        status: response.status,
        headers: response.headers,
        body: response.body,
        timing: outbounds::Timing {
            dns: timing.dns.map(nanos),
            dial: nanos(timing.dial),
            tls: timing.tls.map(nanos),
            first_byte: nanos(timing.first_byte),
            total: nanos(timing.total),
            repeat: timing.repeat.map(nanos),
        },
    }
}

/// The table at `outbounds.fetch-error`, from the host's side.
pub(crate) fn fetch_error_out(error: proxy_core::FetchError) -> outbounds::FetchError {
    let phase = match error.phase {
        proxy_core::Phase::Dial => outbounds::Phase::Dial,
        proxy_core::Phase::Proxy => outbounds::Phase::Proxy,
        proxy_core::Phase::Tls => outbounds::Phase::Tls,
        proxy_core::Phase::Http => outbounds::Phase::Http,
    };
    // These three are told by phase and code together.
    let (phase, code) = match error.cause {
        Cause::ProxyAuth => (outbounds::Phase::Proxy, ErrorCode::HttpRequestDenied),
        Cause::ProxyHandshake => (outbounds::Phase::Proxy, ErrorCode::HttpProtocolError),
        Cause::HttpMalformed => (outbounds::Phase::Http, ErrorCode::HttpProtocolError),
        Cause::Other if error.phase == proxy_core::Phase::Proxy => {
            (outbounds::Phase::Dial, ErrorCode::InternalError(None))
        }
        Cause::Refused => (phase, ErrorCode::ConnectionRefused),
        Cause::DialTimeout => (phase, ErrorCode::ConnectionTimeout),
        Cause::DnsFailed => (
            phase,
            ErrorCode::DnsError(DnsErrorPayload {
                rcode: None,
                info_code: None,
            }),
        ),
        Cause::DnsTimeout => (phase, ErrorCode::DnsTimeout),
        Cause::NoRoute => (phase, ErrorCode::DestinationIpUnroutable),
        Cause::TlsFailed => (phase, ErrorCode::TlsProtocolError),
        Cause::TlsCertificate => (phase, ErrorCode::TlsCertificateError),
        Cause::Eof => (phase, ErrorCode::HttpResponseIncomplete),
        Cause::Reset => (phase, ErrorCode::ConnectionTerminated),
        Cause::Timeout => (phase, ErrorCode::HttpResponseTimeout),
        Cause::Unsupported => (phase, ErrorCode::ConfigurationError),
        Cause::Other => (phase, ErrorCode::InternalError(None)),
    };
    outbounds::FetchError {
        phase,
        code,
        text: error.text,
    }
}

fn view_out(view: report::View) -> types::View {
    match view {
        report::View::Confirmed => types::View::Confirmed,
        report::View::Display => types::View::Display,
    }
}

fn filter_out(scope: report::Scope, view: report::View) -> control::Filter {
    let scope = match scope {
        report::Scope::All => control::Scope::All,
        report::Scope::Tag(tag) => control::Scope::Tag(tag),
        report::Scope::Group(tag) => control::Scope::Group(tag),
    };
    control::Filter {
        scope,
        view: view_out(view),
    }
}

fn update_in(update: control::Update) -> report::Update {
    report::Update {
        reports: update.reports.into_iter().map(report_in).collect(),
        removed: update.removed,
        urgent: update.urgent,
    }
}

fn problems_in(problems: Vec<types::Problem>, severity: report::Severity) -> Vec<report::Problem> {
    let problem = |problem: types::Problem| report::Problem {
        severity,
        path: problem.path,
        message: problem.message,
        hint: problem.hint,
    };
    problems.into_iter().map(problem).collect()
}

fn report_in(report: types::Report) -> Report {
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
    use types::ErrorKind as Kind;
    let kind = match failure.kind {
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
    };
    report::Failure {
        kind,
        text: failure.text,
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
