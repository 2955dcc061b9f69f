//! What a request means on the wire: where to dial, whom to expect in TLS, and the
//! HTTP/1.1 head to send. It must not do any of it.

use std::cell::RefCell;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, HOST, HeaderName, HeaderValue};
use http::{Method, Uri};
use http_body_util::Empty;
use percent_encoding::percent_decode_str;
use rustls_pki_types::ServerName;
use url::{Position, Url};

use super::head::written;
use crate::proxy_core::{Cause, FetchError, Host, Phase, Request, Target};

/// A request that can be carried out.
pub(super) struct Plan {
    pub(super) target: Target,
    /// Whom the certificate must name; none without TLS.
    pub(super) tls_name: Option<ServerName<'static>>,
    pub(super) head: http::Request<Empty<Bytes>>,
    /// The same as it is sent, where it asks for no body.
    pub(super) by_head: Option<Bytes>,
}

impl Plan {
    /// The plan of a request. A pass asks the same of every outbound, and has it planned
    /// once.
    ///
    /// # Errors
    /// [`Cause::Unsupported`], with what cannot be sent.
    pub(super) fn of(request: &Request) -> Result<Arc<Self>, FetchError> {
        thread_local! {
            static LAST: RefCell<Option<(Request, Arc<Plan>)>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| match last {
            Some((planned, plan)) if planned == request => Ok(plan.clone()),
            _ => {
                let plan = Arc::new(Self::new(request)?);
                *last = Some((request.clone(), plan.clone()));
                Ok(plan)
            }
        })
    }

    fn new(request: &Request) -> Result<Self, FetchError> {
        let url = Url::parse(&request.url)
            .map_err(|error| unsupported(format!("not a URL ({error}): {}", request.url)))?;
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            other => {
                return Err(unsupported(format!(
                    "no `{other}` URL can be tested: {url}"
                )));
            }
        };
        let target = target(&url, request)?;
        let tls_name = if tls { Some(tls_name(&target)?) } else { None };
        let head = head(&url, request)?;
        let by_head = (head.method() == Method::HEAD).then(|| written(&head));
        Ok(Self {
            target,
            tls_name,
            head,
            by_head,
        })
    }
}

fn target(url: &Url, request: &Request) -> Result<Target, FetchError> {
    let host = match url.host() {
        Some(url::Host::Domain(name)) => Host::Name(name.to_owned()),
        Some(url::Host::Ipv4(ip)) => Host::Ip(ip.into()),
        Some(url::Host::Ipv6(ip)) => Host::Ip(ip.into()),
        None => return Err(unsupported(format!("the URL names no host: {url}"))),
    };
    let port = url
        .port_or_known_default()
        .filter(|port| *port != 0)
        .ok_or_else(|| unsupported(format!("port 0 cannot be dialed: {url}")))?;
    Ok(Target {
        host,
        port,
        family: request.family,
    })
}

fn tls_name(target: &Target) -> Result<ServerName<'static>, FetchError> {
    match &target.host {
        Host::Ip(ip) => Ok(ServerName::IpAddress((*ip).into())),
        Host::Name(name) => ServerName::try_from(name.clone())
            .map_err(|_| unsupported(format!("no certificate can name the host `{name}`"))),
    }
}

fn head(url: &Url, request: &Request) -> Result<http::Request<Empty<Bytes>>, FetchError> {
    let method = Method::from_bytes(request.method.as_bytes())
        .ok()
        .filter(|method| *method != Method::CONNECT)
        .ok_or_else(|| unsupported(format!("the method `{}` cannot be sent", request.method)))?;
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let uri: Uri = path
        .parse()
        .map_err(|error| unsupported(format!("`{path}` cannot be requested: {error}")))?;

    let mut head = http::Request::new(Empty::new());
    *head.method_mut() = method;
    *head.uri_mut() = uri;
    let headers = head.headers_mut();
    headers.insert(
        HOST,
        value("host", &url[Position::BeforeHost..Position::AfterPort])?,
    );
    if !request.repeat {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, text) in &request.headers {
        let key = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| unsupported(format!("`{name}` is no header name")))?;
        if key != HOST && key != CONNECTION {
            headers.append(key, value(name, text)?);
        }
    }
    if let Some(credentials) = credentials(url).filter(|_| !headers.contains_key(AUTHORIZATION)) {
        headers.insert(AUTHORIZATION, value("authorization", &credentials)?);
    }
    Ok(head)
}

/// `http://user:password@host/` asks for basic authentication.
fn credentials(url: &Url) -> Option<String> {
    let password = url.password();
    if url.username().is_empty() && password.is_none() {
        return None;
    }
    let mut plain: Vec<u8> = percent_decode_str(url.username()).collect();
    plain.push(b':');
    plain.extend(percent_decode_str(password.unwrap_or_default()));
    Some(format!("Basic {}", BASE64.encode(plain)))
}

fn value(name: &str, text: &str) -> Result<HeaderValue, FetchError> {
    HeaderValue::from_str(text)
        .map_err(|_| unsupported(format!("the header `{name}` cannot be sent with its value")))
}

fn unsupported(text: String) -> FetchError {
    FetchError::new(Phase::Http, Cause::Unsupported, text)
}
