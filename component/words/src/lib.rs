//! The words of the contract, `wit/types.wit`, in Rust, and what the engine calls them:
//! what both guests share. It must not know any function of the contract.

use outwatch_engine as engine;

/// What `wit/types.wit` looks like in Rust.
mod bindings {
    wit_bindgen::generate!({
        inline: "package outwatch:words; world words { import outwatch:monitor/types@0.1.0; }",
        path: "../../wit",
        world: "outwatch:words/words",
        generate_all,
    });
}

pub use bindings::outwatch::monitor::types;

/// What every request is sent with (I-8).
pub fn request_headers() -> Vec<(String, String)> {
    let user_agent = concat!("outwatch/", env!("CARGO_PKG_VERSION"));
    vec![
        ("user-agent".to_owned(), user_agent.to_owned()),
        ("accept".to_owned(), "*/*".to_owned()),
    ]
}

pub fn outbound_in(outbound: types::Outbound) -> engine::Outbound {
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

pub fn view_in(view: types::View) -> engine::View {
    match view {
        types::View::Confirmed => engine::View::Confirmed,
        types::View::Display => engine::View::Display,
    }
}

/// The reports of a list are converted where they are: the memory of a guest grows by what
/// it needs at the most, and that is when all outbounds are told at once.
const _: () = assert!(size_of::<engine::Report>() == size_of::<types::Report>());

pub fn report_out(report: engine::Report) -> types::Report {
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
        extra: report.extra,
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
    types::TestFailure {
        kind: error_kind_out(failure.kind),
        text: failure.text,
    }
}

pub fn measurements_out(measurements: Vec<engine::Measurement>) -> Vec<types::Measurement> {
    let measurement = |one: engine::Measurement| types::Measurement {
        at: one.wall_ms,
        outcome: one.outcome.map_err(error_kind_out),
    };
    measurements.into_iter().map(measurement).collect()
}

fn error_kind_out(kind: engine::ErrorKind) -> types::ErrorKind {
    use engine::ErrorKind as Kind;
    match kind {
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

pub fn problems_out(problems: Vec<outwatch_options::Problem>) -> Vec<types::Problem> {
    let problem = |problem: outwatch_options::Problem| types::Problem {
        path: problem.path,
        message: problem.message,
        hint: problem.hint,
    };
    problems.into_iter().map(problem).collect()
}

/// The kind of an error that a host names itself.
pub fn failure_in(failure: types::TestFailure) -> engine::Failure {
    use engine::ErrorKind as Kind;
    let kind = match failure.kind {
        types::ErrorKind::DialRefused => Kind::DialRefused,
        types::ErrorKind::DialTimeout => Kind::DialTimeout,
        types::ErrorKind::DnsFail => Kind::DnsFail,
        types::ErrorKind::DnsTimeout => Kind::DnsTimeout,
        types::ErrorKind::NoRoute => Kind::NoRoute,
        types::ErrorKind::ProxyAuth => Kind::ProxyAuth,
        types::ErrorKind::ProxyHandshake => Kind::ProxyHandshake,
        types::ErrorKind::TlsFail => Kind::TlsFail,
        types::ErrorKind::TlsCert => Kind::TlsCert,
        types::ErrorKind::HttpStatus => Kind::HttpStatus,
        types::ErrorKind::HttpMalformed => Kind::HttpMalformed,
        types::ErrorKind::Eof => Kind::Eof,
        types::ErrorKind::Reset => Kind::Reset,
        types::ErrorKind::Timeout => Kind::Timeout,
        types::ErrorKind::Stuck => Kind::Stuck,
        types::ErrorKind::Canceled => Kind::Canceled,
        types::ErrorKind::Unsupported => Kind::Unsupported,
        types::ErrorKind::Other => Kind::Other,
    };
    engine::Failure {
        kind,
        text: failure.text,
    }
}
