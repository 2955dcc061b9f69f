//! `http`: an HTTP proxy asked by CONNECT, in the clear or over TLS.
//! It must not know how the proxy is reached.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body_util::Empty;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Protocol;
use crate::core::options::{Headers, Reader, Server, take};
use crate::core::tls::{Tls, TlsConfigs, TlsFields};
use crate::core::upgrade::upgrade;
use crate::core::way::{Stream, Way};
use crate::proxy_core::{Cause, FetchError, Phase, Target};

struct Http {
    server: Target,
    tls: Option<Tls>,
    path: Option<Uri>,
    /// Sent with every CONNECT, credentials included.
    headers: HeaderMap,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    username: String,
    password: String,
    path: String,
    headers: Headers,
    tls: Option<TlsFields>,
}

pub(super) fn read(
    mut options: Map<String, Value>,
    reader: &mut Reader<'_>,
    configs: &mut TlsConfigs,
) -> Option<Box<dyn Protocol>> {
    let server = reader.read::<Server>(take(&mut options, Server::NAMES));
    let fields: Fields = reader.read(options)?;
    let server = server?.into_target();
    Some(Box::new(Http {
        headers: headers(&fields, reader)?,
        path: path(&fields.path, reader)?,
        tls: fields
            .tls
            .and_then(|tls| Tls::new(tls, &server.host, reader, configs)),
        server,
    }))
}

fn headers(fields: &Fields, reader: &mut Reader<'_>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    if !fields.username.is_empty() || !fields.password.is_empty() {
        let plain = format!("{}:{}", fields.username, fields.password);
        let text = format!("Basic {}", BASE64.encode(plain));
        headers.insert(
            PROXY_AUTHORIZATION,
            HeaderValue::from_str(&text).expect("base64 is plain text"),
        );
    }
    headers.extend(fields.headers.read("headers", reader)?);
    Some(headers)
}

fn path(path: &str, reader: &mut Reader<'_>) -> Option<Option<Uri>> {
    if path.is_empty() {
        return Some(None);
    }
    match path.parse::<Uri>() {
        Ok(uri) if path.starts_with('/') => Some(Some(uri)),
        _ => {
            reader.error(
                "path",
                format!("`{path}` is no path; expected one such as `/proxy`"),
            );
            None
        }
    }
}

#[async_trait]
impl Protocol for Http {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        let request = self.request(&way.remote(target).await?)?;
        let stream = way.connect(&self.server).await?;
        let proxy = way.proxy("HTTP proxy", &self.server);
        way.progress.shaking_hands(proxy.clone());
        let proxy = proxy.to_string();
        let stream = match &self.tls {
            Some(tls) => tls.wrap(stream, &proxy).await?,
            None => stream,
        };
        let known = self.headers.contains_key(PROXY_AUTHORIZATION);
        upgrade(stream, request, &proxy, |response| {
            match response.status() {
                status if status.is_success() => Ok(()),
                status => Err(refusal(status, known, &proxy, target)),
            }
        })
        .await
    }
}

impl Http {
    fn request(&self, target: &Target) -> Result<http::Request<Empty<Bytes>>, FetchError> {
        let authority = target.to_string();
        let invalid = |_| {
            let text = format!("an HTTP proxy cannot be asked for {authority}");
            FetchError::new(Phase::Proxy, Cause::Unsupported, text)
        };
        let uri = match &self.path {
            Some(path) => path.clone(),
            None => Uri::try_from(authority.as_str()).map_err(|_| invalid(()))?,
        };
        let mut request = http::Request::new(Empty::new());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = uri;
        *request.headers_mut() = self.headers.clone();
        if !request.headers().contains_key(HOST) {
            let host = HeaderValue::from_str(&authority).map_err(|_| invalid(()))?;
            request.headers_mut().insert(HOST, host);
        }
        Ok(request)
    }
}

/// What a refusal means to a client that is `known`: one that has sent credentials.
fn refusal(status: StatusCode, known: bool, proxy: &str, target: &Target) -> FetchError {
    // tinyproxy answers a wrong password by 401.
    let refused = matches!(
        status,
        StatusCode::PROXY_AUTHENTICATION_REQUIRED | StatusCode::UNAUTHORIZED
    );
    let (cause, text) = match (refused, known) {
        (true, true) => (
            Cause::ProxyAuth,
            format!("{proxy} refused the username and password ({status})"),
        ),
        (true, false) => (
            Cause::ProxyAuth,
            format!("{proxy} wants a username and password ({status})"),
        ),
        (false, _) => (
            Cause::ProxyHandshake,
            format!("{proxy} refused to connect to {target}: {status}"),
        ),
    };
    FetchError::new(Phase::Proxy, cause, text)
}
