//! What the component reads from its host and tells it: outbounds, cache, clocks,
//! log. It must not keep anything.

use outwatch_engine::{
    Level, Now, Outbound, Probe, ProbeOutcome, Readiness, SAVED_PREFIX, Selection,
};
use outwatch_words as words;
use words::types::{Network, OutboundKind};

use crate::bindings::outwatch::monitor::outbounds::{self, Family};
use crate::bindings::outwatch::monitor::{cache, log};
use crate::bindings::wasi::clocks::{monotonic_clock, system_clock};
use crate::bindings::wasi::http::types::Method;
use crate::bindings::wasi::random::random;
use crate::convert;

pub(crate) fn now() -> Now {
    let wall = system_clock::now();
    Now {
        mono: convert::instant_in(monotonic_clock::now()),
        wall_ms: convert::wall_in(wall),
    }
}

pub(crate) fn seed() -> u64 {
    random::get_random_u64()
}

/// Everything the core has, and what its groups select.
pub(crate) fn outbounds() -> (Vec<Outbound>, Vec<Selection>) {
    let listed = outbounds::list();
    let groups = listed
        .iter()
        .filter(|outbound| outbound.kind == OutboundKind::Group);
    let selections = groups.map(|group| selection(group.tag.clone())).collect();
    (
        listed.into_iter().map(words::outbound_in).collect(),
        selections,
    )
}

pub(crate) fn selection(group: String) -> Selection {
    let tcp = outbounds::selected(&group, Network::Tcp);
    let udp = outbounds::selected(&group, Network::Udp);
    Selection { group, tcp, udp }
}

/// Why an outbound cannot be tested now; none if it can.
pub(crate) fn not_ready(tag: &str) -> Option<Readiness> {
    match outbounds::status(tag) {
        outbounds::Readiness::Ready => None,
        outbounds::Readiness::NotReady(text) => Some(Readiness::NotReady(text)),
        outbounds::Readiness::Unsupported(text) => Some(Readiness::Unsupported(text)),
    }
}

/// Does one exchange. Dropping it cancels the exchange.
pub(crate) async fn fetch(probe: Probe) -> ProbeOutcome {
    let request = probe.request;
    let request = outbounds::Request {
        url: request.url,
        method: if request.head {
            Method::Head
        } else {
            Method::Get
        },
        headers: words::request_headers(),
        deadline: convert::duration_out(request.deadline),
        body_limit: request.body_limit,
        response_headers: request
            .response_headers
            .into_iter()
            .map(str::to_owned)
            .collect(),
        repeat: request.repeat,
        family: request.ipv6_only.then_some(Family::Ipv6),
    };
    match outbounds::fetch(probe.tag, request).await {
        Ok(response) => ProbeOutcome::Answered(convert::answer_in(response)),
        Err(error) => ProbeOutcome::Failed(convert::failure_in(error)),
    }
}

/// The saved results; none if the cache cannot be read (P-3).
pub(crate) fn saved() -> Vec<(String, Vec<u8>)> {
    cache::get_prefix(SAVED_PREFIX).unwrap_or_else(|error| {
        let text = convert::cache_error_text(error);
        log::log(
            log::Level::Warn,
            "cache",
            &format!("cannot read saved results, starting without: {text}"),
        );
        Vec::new()
    })
}

pub(crate) fn save(delete: &[String], set: &[(String, Vec<u8>)]) {
    if let Err(error) = cache::update(delete, set) {
        let text = convert::cache_error_text(error);
        log::log(
            log::Level::Warn,
            "cache",
            &format!("cannot save results: {text}"),
        );
    }
}

/// From which level on the engine's lines are read; none if none are.
pub(crate) fn log_from() -> Option<Level> {
    log::least_level().and_then(convert::level_in)
}

/// The first word of an engine's line names its part.
pub(crate) fn log(level: Level, line: &str) {
    let context = if line.starts_with("LOWEST") {
        "lowest"
    } else {
        "monitoring"
    };
    log::log(convert::level_out(level), context, line);
}

/// A panic ends the instance; its text must reach the host before.
pub(crate) fn log_panics() {
    std::panic::set_hook(Box::new(|info| {
        log::log(log::Level::Critical, "panic", &info.to_string());
    }));
}
