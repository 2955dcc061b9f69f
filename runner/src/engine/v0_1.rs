//! Contract 0.1: its bindings, and its types to the runner's own and back. It must
//! not do anything with them.

mod exports;
mod reports;

use crate::proxy_core::{self, Cause};
use crate::report;

use bindings::exports::outwatch::monitor::{control, hooks};
pub(crate) use bindings::outwatch::monitor::{cache, log, outbounds, types};
pub(crate) use exports::fit;
use reports::report_in;

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
