//! The library's words in the engine's and back, written once more and apart from the
//! component, so that a slip in its conversions shows. It must not know the traces.

use jiff::Timestamp;
use outwatch::{Cause, FetchError, Outbound, Readiness, Request, Response};
use outwatch_engine as engine;
use serde_json::{Value, json};

use super::world::World;

pub(super) fn outbound(outbound: &Outbound) -> engine::Outbound {
    let Outbound {
        tag,
        type_name,
        kind,
        detour,
        members,
        networks: _,
        fingerprint,
        exit_follows_host,
    } = outbound.clone();
    let kind = match kind {
        outwatch::Kind::Outbound => engine::Kind::Outbound,
        outwatch::Kind::Endpoint => engine::Kind::Endpoint,
        outwatch::Kind::Group => engine::Kind::Group,
        outwatch::Kind::Untestable => engine::Kind::Untestable,
    };
    engine::Outbound {
        tag,
        type_name,
        kind,
        detour,
        members,
        fingerprint,
        exit_follows_host,
    }
}

/// What a group selects, for both networks.
pub(super) fn selection(world: &World, group: &str) -> engine::Selection {
    let selected = world.selected.get(group).cloned();
    engine::Selection {
        group: group.to_owned(),
        tcp: selected.clone(),
        udp: selected,
    }
}

pub(super) fn selections(world: &World) -> Vec<engine::Selection> {
    let groups = world.outbounds.iter();
    groups
        .filter(|outbound| outbound.kind == outwatch::Kind::Group)
        .map(|group| selection(world, &group.tag))
        .collect()
}

pub(super) fn not_ready(readiness: Readiness) -> Option<engine::Readiness> {
    match readiness {
        Readiness::Ready => None,
        Readiness::NotReady(text) => Some(engine::Readiness::NotReady(text)),
        Readiness::Unsupported(text) => Some(engine::Readiness::Unsupported(text)),
    }
}

pub(super) fn request(request: &engine::Request) -> Request {
    Request {
        url: request.url.clone(),
        method: if request.head { "HEAD" } else { "GET" }.to_owned(),
        headers: Vec::new(),
        deadline: request.deadline,
        body_limit: request.body_limit,
        response_headers: request
            .response_headers
            .iter()
            .map(|&name| name.to_owned())
            .collect(),
        repeat: request.repeat,
        family: request.ipv6_only.then_some(outwatch::Family::V6),
    }
}

pub(super) fn ended(end: Result<Response, FetchError>) -> engine::ProbeOutcome {
    match end {
        Ok(response) => engine::ProbeOutcome::Answered(engine::Answer {
            status: response.status,
            headers: response.headers,
            body: response.body,
            first_byte: response.timing.first_byte,
            repeat: response.timing.repeat,
        }),
        Err(error) => engine::ProbeOutcome::Failed(engine::Failure {
            kind: error_kind(&error),
            text: error.text,
        }),
    }
}

/// What is said at each [`Cause`].
fn error_kind(error: &FetchError) -> engine::ErrorKind {
    use engine::ErrorKind as Kind;
    match error.cause {
        Cause::Refused => Kind::DialRefused,
        Cause::DialTimeout => Kind::DialTimeout,
        Cause::DnsFailed => Kind::DnsFail,
        Cause::DnsTimeout => Kind::DnsTimeout,
        Cause::NoRoute => Kind::NoRoute,
        Cause::ProxyAuth => Kind::ProxyAuth,
        Cause::ProxyHandshake => Kind::ProxyHandshake,
        Cause::TlsFailed => Kind::TlsFail,
        Cause::TlsCertificate => Kind::TlsCert,
        Cause::HttpMalformed => Kind::HttpMalformed,
        Cause::Eof => Kind::Eof,
        Cause::Reset => Kind::Reset,
        Cause::Timeout => Kind::Timeout,
        Cause::Unsupported => Kind::Unsupported,
        Cause::Other => Kind::Other,
    }
}

pub(super) fn cause(fault: outwatch::Fault) -> engine::Cause {
    match fault {
        outwatch::Fault::Outbound => engine::Cause::Member,
        outwatch::Fault::Destination => engine::Cause::Destination,
        outwatch::Fault::Client => engine::Cause::Client,
    }
}

pub(super) fn view(view: outwatch::View) -> engine::View {
    match view {
        outwatch::View::Confirmed => engine::View::Confirmed,
        outwatch::View::Display => engine::View::Display,
    }
}

pub(super) fn scope(scope: &outwatch::Scope) -> engine::Scope {
    match scope.clone() {
        outwatch::Scope::All => engine::Scope::All,
        outwatch::Scope::Tag(tag) => engine::Scope::Tag(tag),
        outwatch::Scope::Group(tag) => engine::Scope::Group(tag),
    }
}

pub(super) fn level(level: engine::Level) -> &'static str {
    match level {
        engine::Level::Debug => "DEBUG",
        engine::Level::Info => "INFO",
        engine::Level::Warn => "WARN",
    }
}

/// The JSON of a report.
pub(super) fn report(report: &engine::Report) -> Value {
    json!({
        "tag": report.tag,
        "kind": match report.kind {
            engine::Kind::Outbound | engine::Kind::Untestable => "outbound",
            engine::Kind::Endpoint => "endpoint",
            engine::Kind::Group => "group",
        },
        "type": report.type_name,
        "state": match report.state {
            engine::State::Untested => "untested",
            engine::State::Cached => "cached",
            engine::State::Ok => "ok",
            engine::State::Failed => "failed",
            engine::State::NotReady => "not_ready",
        },
        "testing": report.testing,
        "delay_ms": report.delay_ms,
        "delay_source": report.delay_source.map(|source| match source {
            engine::DelaySource::Url => "url",
            engine::DelaySource::IpInfo => "ipinfo",
        }),
        "warm": report.warm,
        "url": report.url,
        "tested_at": report.tested_at.map(rfc3339),
        "last_ok_at": report.last_ok_at.map(rfc3339),
        "age_ms": report.age_ms,
        "from_cache": report.from_cache,
        "miss": report.miss,
        "error": report.error.as_ref().map(|error| json!({
            "kind": error.kind.as_str(),
            "text": error.text,
        })),
        "ip": report.ip.as_ref().map(ip),
        "ip_from_cache": report.ip_from_cache,
        "ip_pending": report.ip_pending,
        "ipv6": match report.ipv6 {
            engine::Ipv6::Unknown => "unknown",
            engine::Ipv6::Yes => "yes",
            engine::Ipv6::No => "no",
        },
        "ipv6_source": report.ipv6_source.map(|source| match source {
            engine::Ipv6Source::Declared => "declared",
            engine::Ipv6Source::Verified => "verified",
        }),
        "status_text": report.status_text,
        "reason": report.reason.map(engine::Reason::as_str),
        "attempts": report.attempts,
        "via": report.via,
        "stats": {
            "count": report.stats.count,
            "failed": report.stats.failed,
            "mean_ms": report.stats.mean_ms,
            "jitter_ms": report.stats.jitter_ms,
        },
        "revision": report.revision,
    })
}

fn ip(ip: &engine::IpInfo) -> Value {
    json!({
        "ip": ip.ip,
        "country_code": ip.country_code,
        "region": ip.region,
        "city": ip.city,
        "asn": ip.asn,
        "org": ip.org,
        "service": ip.service,
        "tls": ip.tls,
    })
}

fn rfc3339(wall_ms: u64) -> String {
    let at = i64::try_from(wall_ms).map(Timestamp::from_millisecond);
    at.expect("in range").expect("in range").to_string()
}

pub(super) fn ask_error(error: &engine::AskError) -> outwatch::TestError {
    match error.clone() {
        engine::AskError::UnknownTag => outwatch::TestError::UnknownTag,
        engine::AskError::Untestable => outwatch::TestError::Untestable,
        engine::AskError::NotReady(text) => outwatch::TestError::NotReady(text),
        engine::AskError::Stopped => outwatch::TestError::Stopped,
    }
}
