//! The contract's types to the engine's and back, but for its common words, which
//! `outwatch_words` knows. It must not call the host or the monitor.

use std::time::Duration;

use outwatch_engine as engine;
use outwatch_words as words;

use crate::bindings::exports::outwatch::monitor::{control, hooks};
use crate::bindings::outwatch::monitor::{cache, log, outbounds};
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

pub(crate) fn filter_in(filter: control::Filter) -> engine::Filter {
    let scope = match filter.scope {
        control::Scope::All => engine::Scope::All,
        control::Scope::Tag(tag) => engine::Scope::Tag(tag),
        control::Scope::Group(tag) => engine::Scope::Group(tag),
    };
    engine::Filter {
        scope,
        view: words::view_in(filter.view),
    }
}

pub(crate) fn update_out(update: engine::Update) -> control::Update {
    control::Update {
        reports: update.reports.into_iter().map(words::report_out).collect(),
        removed: update.removed,
        urgent: update.urgent,
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
