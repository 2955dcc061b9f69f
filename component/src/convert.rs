//! The contract's types to the engine's and back: the only place that knows both.
//! It must not call the host or the monitor.

use std::time::Duration;

use outwatch_engine as engine;

use crate::bindings::exports::outwatch::monitor::{control, hooks};
use crate::bindings::outwatch::monitor::{cache, log, outbounds, types};
use crate::bindings::wasi::clocks::{monotonic_clock, system_clock};
use crate::bindings::wasi::http::types::ErrorCode;

pub(crate) fn instant_in(mark: monotonic_clock::Mark) -> engine::Instant {
    engine::Instant(mark)
}

pub(crate) fn instant_out(at: engine::Instant) -> monotonic_clock::Mark {
    at.0
}

pub(crate) fn duration_out(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Milliseconds since 1970; a clock before that counts as 1970.
pub(crate) fn wall_in(at: system_clock::Instant) -> u64 {
    let seconds = u64::try_from(at.seconds).unwrap_or(0);
    seconds
        .saturating_mul(1000)
        .saturating_add(u64::from(at.nanoseconds / 1_000_000))
}

pub(crate) fn outbound_in(outbound: types::Outbound) -> engine::Outbound {
    engine::Outbound {
        tag: outbound.tag,
        type_name: outbound.type_name,
        kind: match outbound.kind {
            types::OutboundKind::Outbound => engine::Kind::Outbound,
            types::OutboundKind::Endpoint => engine::Kind::Endpoint,
            types::OutboundKind::Group => engine::Kind::Group,
            types::OutboundKind::Untestable => engine::Kind::Untestable,
        },
        detour: outbound.detour,
        members: outbound.members,
        fingerprint: outbound.fingerprint,
        exit_follows_host: outbound
            .flags
            .contains(types::OutboundFlags::EXIT_FOLLOWS_HOST),
    }
}

pub(crate) fn answer_in(response: outbounds::Response) -> engine::Answer {
    engine::Answer {
        status: response.status,
        headers: response.headers,
        body: response.body,
        first_byte: Duration::from_nanos(response.timing.first_byte),
        repeat: response.timing.repeat.map(Duration::from_nanos),
    }
}

/// The table at `outbounds.fetch-error`.
pub(crate) fn failure_in(error: outbounds::FetchError) -> engine::Failure {
    use engine::ErrorKind as Kind;
    use outbounds::Phase;
    let kind = match (&error.code, error.phase) {
        (ErrorCode::ConnectionRefused, _) => Kind::DialRefused,
        (ErrorCode::ConnectionTimeout, _) => Kind::DialTimeout,
        (ErrorCode::DnsError(_), _) => Kind::DnsFail,
        (ErrorCode::DnsTimeout, _) => Kind::DnsTimeout,
        (ErrorCode::DestinationIpUnroutable | ErrorCode::DestinationUnavailable, _) => {
            Kind::NoRoute
        }
        (ErrorCode::HttpRequestDenied, Phase::Proxy) => Kind::ProxyAuth,
        (ErrorCode::TlsCertificateError, _) => Kind::TlsCert,
        (ErrorCode::TlsProtocolError | ErrorCode::TlsAlertReceived(_), _) => Kind::TlsFail,
        (ErrorCode::HttpProtocolError, Phase::Http) => Kind::HttpMalformed,
        (ErrorCode::HttpResponseIncomplete, _) => Kind::Eof,
        (ErrorCode::ConnectionTerminated, _) => Kind::Reset,
        (ErrorCode::ConnectionReadTimeout | ErrorCode::HttpResponseTimeout, _) => Kind::Timeout,
        (ErrorCode::ConfigurationError, _) => Kind::Unsupported,
        (_, Phase::Proxy) => Kind::ProxyHandshake,
        (_, Phase::Dial | Phase::Tls | Phase::Http) => Kind::Other,
    };
    engine::Failure {
        kind,
        text: error.text,
    }
}

pub(crate) fn cause_in(cause: hooks::Cause) -> engine::Cause {
    match cause {
        hooks::Cause::Member => engine::Cause::Member,
        hooks::Cause::Destination => engine::Cause::Destination,
        hooks::Cause::Client => engine::Cause::Client,
    }
}

pub(crate) fn view_in(view: types::View) -> engine::View {
    match view {
        types::View::Confirmed => engine::View::Confirmed,
        types::View::Display => engine::View::Display,
    }
}

pub(crate) fn filter_in(filter: control::Filter) -> engine::Filter {
    let scope = match filter.scope {
        control::Scope::All => engine::Scope::All,
        control::Scope::Tag(tag) => engine::Scope::Tag(tag),
        control::Scope::Group(tag) => engine::Scope::Group(tag),
    };
    engine::Filter {
        scope,
        view: view_in(filter.view),
    }
}

pub(crate) fn update_out(update: engine::Update) -> control::Update {
    control::Update {
        reports: update.reports.into_iter().map(report_out).collect(),
        removed: update.removed,
        urgent: update.urgent,
    }
}

pub(crate) fn report_out(report: engine::Report) -> types::Report {
    types::Report {
        tag: report.tag,
        kind: match report.kind {
            engine::Kind::Outbound => types::OutboundKind::Outbound,
            engine::Kind::Endpoint => types::OutboundKind::Endpoint,
            engine::Kind::Group => types::OutboundKind::Group,
            engine::Kind::Untestable => types::OutboundKind::Untestable,
        },
        type_name: report.type_name,
        state: match report.state {
            engine::State::Untested => types::State::Untested,
            engine::State::Cached => types::State::Cached,
            engine::State::Ok => types::State::Ok,
            engine::State::Failed => types::State::Failed,
            engine::State::NotReady => types::State::NotReady,
        },
        testing: report.testing,
        delay_ms: report.delay_ms,
        delay_source: report.delay_source.map(|source| match source {
            engine::DelaySource::Url => types::DelaySource::Url,
            engine::DelaySource::IpInfo => types::DelaySource::Ipinfo,
        }),
        warm: report.warm,
        url: report.url,
        tested_at: report.tested_at,
        last_ok_at: report.last_ok_at,
        age_ms: report.age_ms,
        from_cache: report.from_cache,
        miss: report.miss,
        error: report.error.map(failure_out),
        ip: report.ip.map(ip_info_out),
        ip_from_cache: report.ip_from_cache,
        ip_pending: report.ip_pending,
        ipv6: match report.ipv6 {
            engine::Ipv6::Unknown => types::Ipv6Support::Unknown,
            engine::Ipv6::Yes => types::Ipv6Support::Yes,
            engine::Ipv6::No => types::Ipv6Support::No,
        },
        ipv6_source: report.ipv6_source.map(|source| match source {
            engine::Ipv6Source::Declared => types::Ipv6Source::Declared,
            engine::Ipv6Source::Verified => types::Ipv6Source::Verified,
        }),
        status_text: report.status_text,
        reason: report.reason.map(reason_out),
        attempts: report.attempts,
        via: report.via,
        stats: types::Stats {
            count: report.stats.count,
            failed: report.stats.failed,
            mean_ms: report.stats.mean_ms,
            jitter_ms: report.stats.jitter_ms,
        },
        revision: report.revision,
        extra: Vec::new(),
    }
}

fn ip_info_out(ip: engine::IpInfo) -> types::IpInfo {
    types::IpInfo {
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

fn failure_out(failure: engine::Failure) -> types::TestFailure {
    use engine::ErrorKind as Kind;
    let kind = match failure.kind {
        Kind::DialRefused => types::ErrorKind::DialRefused,
        Kind::DialTimeout => types::ErrorKind::DialTimeout,
        Kind::DnsFail => types::ErrorKind::DnsFail,
        Kind::DnsTimeout => types::ErrorKind::DnsTimeout,
        Kind::NoRoute => types::ErrorKind::NoRoute,
        Kind::ProxyAuth => types::ErrorKind::ProxyAuth,
        Kind::ProxyHandshake => types::ErrorKind::ProxyHandshake,
        Kind::TlsFail => types::ErrorKind::TlsFail,
        Kind::TlsCert => types::ErrorKind::TlsCert,
        Kind::HttpStatus => types::ErrorKind::HttpStatus,
        Kind::HttpMalformed => types::ErrorKind::HttpMalformed,
        Kind::Eof => types::ErrorKind::Eof,
        Kind::Reset => types::ErrorKind::Reset,
        Kind::Timeout => types::ErrorKind::Timeout,
        Kind::Stuck => types::ErrorKind::Stuck,
        Kind::Canceled => types::ErrorKind::Canceled,
        Kind::Unsupported => types::ErrorKind::Unsupported,
        Kind::Other => types::ErrorKind::Other,
    };
    types::TestFailure {
        kind,
        text: failure.text,
    }
}

fn reason_out(reason: engine::Reason) -> types::Reason {
    use engine::Reason;
    match reason {
        Reason::Start => types::Reason::Start,
        Reason::Cycle => types::Reason::Cycle,
        Reason::NextUrl => types::Reason::NextUrl,
        Reason::Asked => types::Reason::Asked,
        Reason::ConnectionFailed => types::Reason::ConnectionFailed,
        Reason::Switched => types::Reason::Switched,
        Reason::Depends => types::Reason::Depends,
        Reason::Ready => types::Reason::Ready,
        Reason::Recovered => types::Reason::Recovered,
        Reason::Network => types::Reason::Network,
        Reason::Retry => types::Reason::Retry,
        Reason::Reload => types::Reason::Reload,
        Reason::Resume => types::Reason::Resume,
    }
}

pub(crate) fn ask_error_out(error: engine::AskError) -> control::TestError {
    match error {
        engine::AskError::UnknownTag => control::TestError::UnknownTag,
        engine::AskError::Untestable => control::TestError::Untestable,
        engine::AskError::NotReady(text) => control::TestError::NotReady(text),
        engine::AskError::Stopped => control::TestError::Stopped,
    }
}

pub(crate) fn problems_out(problems: Vec<outwatch_options::Problem>) -> Vec<types::Problem> {
    let problem = |problem: outwatch_options::Problem| types::Problem {
        path: problem.path,
        message: problem.message,
        hint: problem.hint,
    };
    problems.into_iter().map(problem).collect()
}

pub(crate) fn level_out(level: engine::Level) -> log::Level {
    match level {
        engine::Level::Debug => log::Level::Debug,
        engine::Level::Info => log::Level::Info,
        engine::Level::Warn => log::Level::Warn,
    }
}

/// The engine's least level that is not below this one; none if all of its are.
pub(crate) fn level_in(level: log::Level) -> Option<engine::Level> {
    match level {
        log::Level::Trace | log::Level::Debug => Some(engine::Level::Debug),
        log::Level::Info => Some(engine::Level::Info),
        log::Level::Warn => Some(engine::Level::Warn),
        log::Level::Error | log::Level::Critical => None,
    }
}

pub(crate) fn cache_error_text(error: cache::CacheError) -> String {
    match error {
        cache::CacheError::Unavailable(text)
        | cache::CacheError::TooLarge(text)
        | cache::CacheError::Other(text) => text,
    }
}
