//! sing-box's `transport` object: what stands between a protocol and its TCP or TLS
//! connection. It must not know the protocol, nor how the connection is opened.

mod httpupgrade;
mod ws;

use std::sync::Arc;

use http::header::{HOST, HeaderMap, HeaderValue, USER_AGENT};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Map, Value};

use self::httpupgrade::HttpUpgrade;
use self::ws::WebSocket;
use super::options::{ELSEWHERE, Reader, take};
use super::way::Stream;
use crate::proxy_core::{FetchError, Target};

/// What a request of sing-box carries when the config names no other: a front that
/// sorts its visitors sees one kind of client.
const AGENT: HeaderValue = HeaderValue::from_static("Go-http-client/1.1");

/// What a path may hold in a config and may not in a request.
const NOT_IN_PATHS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// How the bytes of a protocol travel.
#[derive(Clone)]
pub(super) enum Transport {
    /// As they are.
    Plain,
    WebSocket(Arc<WebSocket>),
    HttpUpgrade(Arc<HttpUpgrade>),
}

/// How servers are called in a request without a `Host` of its own.
pub(super) struct Names<'a> {
    pub(super) server: &'a Target,
    /// The `server_name` of TLS, perhaps empty, if there is TLS.
    pub(super) tls: Option<&'a str>,
}

impl Transport {
    /// Reads the object; none if it is wrong or asks for what this core has not, which
    /// `reader` has been told.
    pub(super) fn read(
        mut fields: Map<String, Value>,
        names: &Names<'_>,
        reader: &mut Reader<'_>,
    ) -> Option<Self> {
        let kind = take(&mut fields, &["type"]).remove("type");
        match kind.as_ref().unwrap_or(&Value::Null) {
            Value::Null if fields.is_empty() => Some(Self::Plain),
            Value::String(kind) => match kind.as_str() {
                "" if fields.is_empty() => Some(Self::Plain),
                "ws" => Some(Self::WebSocket(Arc::new(WebSocket::read(
                    fields, names, reader,
                )?))),
                "httpupgrade" => Some(Self::HttpUpgrade(Arc::new(HttpUpgrade::read(
                    fields, names, reader,
                )?))),
                kind => {
                    reader.unsupported(format!(
                        "its `transport` `{kind}` is not done by the built-in core, which has `ws` \
                         and `httpupgrade`; {ELSEWHERE}"
                    ));
                    None
                }
            },
            _ => {
                reader.error("transport.type", "expected a name such as `ws`");
                None
            }
        }
    }

    /// What TLS below it has to offer when the config names nothing (ALPN).
    pub(super) fn alpn(&self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::WebSocket(_) | Self::HttpUpgrade(_) => Some("http/1.1"),
        }
    }

    /// How many of the first bytes may travel inside its own handshake.
    pub(super) fn early_data(&self) -> usize {
        match self {
            Self::Plain | Self::HttpUpgrade(_) => 0,
            Self::WebSocket(ws) => ws.early_data(),
        }
    }

    /// Does the handshake over `stream` with `peer` (for people). Of `early`, it takes
    /// along what it may, and says how much.
    ///
    /// # Errors
    /// Those of HTTP, in the phase of the proxy.
    pub(super) async fn open(
        &self,
        stream: Stream,
        peer: &str,
        early: &[u8],
    ) -> Result<(Stream, usize), FetchError> {
        let (early, _) = early.split_at(early.len().min(self.early_data()));
        let stream = match self {
            Self::Plain => stream,
            Self::WebSocket(ws) => ws.open(stream, peer, early).await?,
            Self::HttpUpgrade(upgrade) => upgrade.open(stream, peer).await?,
        };
        Ok((stream, early.len()))
    }
}

/// The path of a request; an error in `transport.path` if there is no such path.
fn path(path: &str, reader: &mut Reader<'_>) -> Option<String> {
    let encoded = utf8_percent_encode(path, NOT_IN_PATHS);
    let path = match path.strip_prefix('/') {
        Some(_) => encoded.to_string(),
        None => format!("/{encoded}"),
    };
    if path.parse::<http::uri::PathAndQuery>().is_ok() {
        return Some(path);
    }
    reader.error("transport.path", "not a path that HTTP can ask for");
    None
}

/// The headers of a request: `given` by the config, after those that every one has.
/// None if `host`, which is for a config without a `Host`, cannot be asked for.
fn complete(mut given: HeaderMap, host: &str, reader: &mut Reader<'_>) -> Option<HeaderMap> {
    let host = match given.remove(HOST) {
        Some(host) => Ok(host),
        None => HeaderValue::from_str(host),
    };
    let Ok(host) = host else {
        reader.error("transport.host", "not a name that HTTP can ask for");
        return None;
    };
    let mut headers = HeaderMap::new();
    headers.insert(HOST, host);
    let agent = given.remove(USER_AGENT);
    headers.insert(USER_AGENT, agent.unwrap_or(AGENT));
    headers.extend(given);
    Some(headers)
}
