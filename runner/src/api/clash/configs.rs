//! What clients of this surface ask of the core itself: its version, its settings and its
//! rules. Nothing can be changed by it: a change is taken and has no effect, as in sing-box.
//! It must not know outbounds.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use tracing::level_filters::LevelFilter;

use super::answer::Refusal;
use crate::api::source::Source;

/// The one mode that there is: connections go by the route.
const MODE: &str = "Rule";

/// `meta` and `premium` have dashboards show what Clash alone has not.
pub(super) async fn version() -> Json<Value> {
    let version = concat!("outwatch ", env!("CARGO_PKG_VERSION"));
    Json(json!({ "version": version, "meta": true, "premium": true }))
}

/// Ports are 0, as in sing-box: an inbound has its own.
pub(super) async fn all() -> Json<Value> {
    let level = match LevelFilter::current() {
        LevelFilter::OFF => "silent",
        LevelFilter::ERROR => "error",
        LevelFilter::WARN => "warning",
        LevelFilter::INFO => "info",
        _ => "debug",
    };
    Json(json!({
        "port": 0,
        "socks-port": 0,
        "redir-port": 0,
        "tproxy-port": 0,
        "mixed-port": 0,
        "allow-lan": false,
        "bind-address": "*",
        "mode": MODE,
        "mode-list": [MODE],
        "log-level": level,
        "ipv6": true,
        "tun": null,
    }))
}

pub(super) async fn change(body: Result<Bytes, BytesRejection>) -> Result<StatusCode, Refusal> {
    let _: Map<String, Value> = serde_json::from_slice(&body?).map_err(|_| Refusal::Malformed)?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn load() -> StatusCode {
    StatusCode::NO_CONTENT
}

/// One rule: all goes by `route.final`.
pub(super) async fn rules(State(source): State<Arc<Source>>) -> Json<Value> {
    let rule = |tag| json!({ "type": "Match", "payload": "", "proxy": tag });
    let rules: Vec<Value> = source.final_tag().map(rule).into_iter().collect();
    Json(json!({ "rules": rules }))
}

pub(super) async fn proxy_providers() -> Json<Value> {
    Json(json!({ "providers": {} }))
}

pub(super) async fn rule_providers() -> Json<Value> {
    Json(json!({ "providers": [] }))
}

/// Names are resolved by the system, or as far away as an outbound allows.
pub(super) async fn resolve() -> Refusal {
    Refusal::Unavailable("DNS section is disabled")
}

/// There is nothing to forget.
pub(super) async fn flush() -> StatusCode {
    StatusCode::NO_CONTENT
}
