//! Users' connections: those that are open, again and again for one who watches, and their
//! end. It must not know how they are counted.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures::stream::StreamExt;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::answer::Refusal;
use super::feed::{Upgrade, feed};
use super::rates::{every, in_use};
use crate::api::source::Source;
use crate::inbound::{Connection, Connections};
use crate::proxy_core::{Host, Network, Target};
use crate::report::as_text;

/// The shortest time between two answers to one who watches.
const SHORTEST: Duration = Duration::from_millis(250);

#[derive(Deserialize)]
#[serde(default)]
pub(super) struct Watching {
    /// Milliseconds between two answers.
    interval: u64,
}

impl Default for Watching {
    fn default() -> Self {
        Self { interval: 1000 }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    download_total: u64,
    upload_total: u64,
    connections: Vec<One>,
    memory: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct One {
    id: String,
    metadata: Metadata,
    upload: u64,
    download: u64,
    #[serde(serialize_with = "as_text")]
    start: Timestamp,
    /// The outbound first, then the groups that led to it.
    chains: Vec<String>,
    rule: &'static str,
    rule_payload: &'static str,
}

/// Fields as sing-box has them, and of mihomo's those that are known.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    network: &'static str,
    #[serde(rename = "type")]
    type_name: String,
    #[serde(rename = "sourceIP")]
    source_ip: String,
    source_port: String,
    #[serde(rename = "destinationIP")]
    destination_ip: String,
    destination_port: String,
    host: String,
    dns_mode: &'static str,
    process_path: &'static str,
    inbound_name: String,
    inbound_user: String,
}

pub(super) async fn all(
    State(source): State<Arc<Source>>,
    watching: Result<Query<Watching>, QueryRejection>,
    upgrade: Upgrade,
) -> Result<Response, Refusal> {
    if upgrade.is_err() {
        return Ok(Json(Answer::of(&source.connections)).into_response());
    }
    let Query(watching) = watching.map_err(|_| Refusal::Malformed)?;
    let period = Duration::from_millis(watching.interval).max(SHORTEST);
    let connections = source.connections.clone();
    let answers = every(period).map(move |()| Answer::of(&connections));
    Ok(feed(&source, upgrade, answers))
}

pub(super) async fn close_all(State(source): State<Arc<Source>>) -> StatusCode {
    source.connections.close_all();
    StatusCode::NO_CONTENT
}

/// One that is closed already is as good as closed.
pub(super) async fn close(
    State(source): State<Arc<Source>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Refusal> {
    let Path(id) = id?;
    source.connections.close(&id);
    Ok(StatusCode::NO_CONTENT)
}

impl Answer {
    fn of(connections: &Connections) -> Self {
        let carried = connections.carried();
        let open = connections.open();
        Self {
            download_total: carried.down,
            upload_total: carried.up,
            connections: open.iter().map(|one| One::of(one)).collect(),
            memory: in_use(),
        }
    }
}

impl One {
    fn of(connection: &Connection) -> Self {
        let carried = connection.carried();
        Self {
            id: connection.id(),
            metadata: Metadata::of(connection),
            upload: carried.up,
            download: carried.down,
            start: connection.started,
            chains: connection.chain.iter().rev().cloned().collect(),
            rule: "final",
            rule_payload: "",
        }
    }
}

impl Metadata {
    fn of(connection: &Connection) -> Self {
        let client = &connection.client;
        let target = connection.target();
        let (host, ip) = match target.map(|target: &Target| &target.host) {
            Some(Host::Name(name)) => (name.clone(), String::new()),
            Some(Host::Ip(ip)) => (String::new(), ip.to_string()),
            None => Default::default(),
        };
        Self {
            network: match connection.network {
                Network::Tcp => "tcp",
                Network::Udp => "udp",
            },
            type_name: client.inbound.to_string(),
            source_ip: client.source.ip().to_string(),
            source_port: client.source.port().to_string(),
            destination_ip: ip,
            destination_port: target
                .map(|target| target.port.to_string())
                .unwrap_or_default(),
            host,
            dns_mode: "normal",
            process_path: "",
            inbound_name: client.inbound.to_string(),
            inbound_user: client.user.as_deref().unwrap_or_default().to_owned(),
        }
    }
}
