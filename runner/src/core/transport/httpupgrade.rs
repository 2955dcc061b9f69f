//! The transport `httpupgrade`: the head of a WebSocket handshake, then plain bytes.
//! It must not know what the bytes are.

use std::net::IpAddr;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONNECTION, HOST, HeaderMap, HeaderValue, UPGRADE};
use http_body_util::Empty;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Names, complete, path};
use crate::core::options::{Headers, Reader};
use crate::core::upgrade::upgrade;
use crate::core::way::Stream;
use crate::proxy_core::{Cause, FetchError, Host, Phase};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    host: String,
    path: String,
    headers: Headers,
}

/// The transport, as one outbound has it.
pub(in crate::core) struct HttpUpgrade {
    path: String,
    headers: HeaderMap,
}

impl HttpUpgrade {
    pub(super) fn read(
        fields: Map<String, Value>,
        names: &Names<'_>,
        reader: &mut Reader<'_>,
    ) -> Option<Self> {
        let fields: Fields = reader.read_at("transport", fields)?;
        let mut headers = fields.headers.read("transport.headers", reader)?;
        if !fields.host.is_empty() {
            headers.remove(HOST);
        }
        let host = match (fields.host, names.tls) {
            (host, _) if !host.is_empty() => host,
            (_, None) => names.server.to_string(),
            (_, Some("")) => match &names.server.host {
                Host::Ip(IpAddr::V6(ip)) => format!("[{ip}]"),
                host => host.to_string(),
            },
            (_, Some(name)) => name.to_owned(),
        };
        Some(Self {
            path: path(&fields.path, reader)?,
            headers: complete(headers, &host, reader)?,
        })
    }

    /// Does the handshake with `peer`.
    pub(super) async fn open(&self, stream: Stream, peer: &str) -> Result<Stream, FetchError> {
        let request = request(&self.path, self.headers.clone(), peer)?;
        upgrade(stream, request, peer, |response| agreed(response, peer)).await
    }
}

/// A request to go over to WebSocket, or to what only calls itself so.
pub(super) fn request(
    path: &str,
    mut headers: HeaderMap,
    peer: &str,
) -> Result<http::Request<Empty<Bytes>>, FetchError> {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let mut request = http::Request::new(Empty::new());
    *request.headers_mut() = headers;
    *request.uri_mut() = path.parse().map_err(|_| {
        let text = format!("{peer} cannot be asked for a path this long");
        FetchError::new(Phase::Proxy, Cause::Unsupported, text)
    })?;
    Ok(request)
}

/// Whether the server has gone over.
pub(super) fn agreed(response: &http::Response<Incoming>, peer: &str) -> Result<(), FetchError> {
    let status = response.status();
    let to_websocket = response
        .headers()
        .get(UPGRADE)
        .is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let text = match status {
        StatusCode::SWITCHING_PROTOCOLS if to_websocket => return Ok(()),
        StatusCode::SWITCHING_PROTOCOLS => {
            format!("{peer} went over to something else than its `transport`")
        }
        status => {
            format!("{peer} refused its `transport`: {status}; its path or host may be another one")
        }
    };
    Err(FetchError::new(Phase::Proxy, Cause::ProxyHandshake, text))
}
