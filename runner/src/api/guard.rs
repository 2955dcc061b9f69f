//! Who may ask: by the secret, and by the host and the origin that a browser names. It must
//! not know what is asked for.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::answer::Refusal;

/// What a page of another origin may send.
const METHODS: &str = "GET, POST, PUT, PATCH, DELETE";
const HEADERS: &str = "Authorization, Content-Type, Accept, Last-Event-ID";
/// How long a browser may remember that, in seconds.
const REMEMBERED: &str = "600";

const ASKS_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOWS_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A secret, kept as a digest: how long a refusal takes says nothing of how close a guess
/// was, and it cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret([u8; 32]);

impl Secret {
    /// None if it is empty.
    pub(super) fn of(secret: &str) -> Option<Self> {
        (!secret.is_empty()).then(|| Self(Sha256::digest(secret).into()))
    }

    fn is(&self, given: &[u8]) -> bool {
        let given: [u8; 32] = Sha256::digest(given).into();
        self.0.ct_eq(&given).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Who may ask.
pub(super) struct Guard {
    secret: Option<Secret>,
    origins: Origins,
    private_network: bool,
    /// Only names of this host lead here.
    local: bool,
}

/// Pages of which origins may ask, besides those served here.
enum Origins {
    Any,
    /// In lower case.
    Of(Vec<String>),
}

impl Guard {
    pub(super) fn new(
        secret: Option<Secret>,
        origins: &[String],
        private_network: bool,
        address: SocketAddr,
    ) -> Self {
        // A page that does not know the secret gets nothing, whatever its origin.
        let any = (origins.is_empty() && secret.is_some()) || origins.iter().any(|one| one == "*");
        let origins = origins.iter().map(|origin| {
            let origin = origin.strip_suffix('/').unwrap_or(origin);
            origin.to_ascii_lowercase()
        });
        Self {
            secret,
            origins: if any {
                Origins::Any
            } else {
                Origins::Of(origins.collect())
            },
            private_network,
            local: address.ip().to_canonical().is_loopback(),
        }
    }

    /// The origin of the page that asks, if it is another than ours.
    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Page, Refusal> {
        let host = authority(uri, headers);
        if self.local && !host.as_ref().is_some_and(|host| leads_here(host.host())) {
            let message = "the request's `Host` is no name of this host; ask by its address, or by `localhost`";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "foreign_host", message));
        }
        let Some(origin) = headers.get(header::ORIGIN) else {
            return self.without_origin(method, headers);
        };
        let text = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        if is_own(&text, host.as_ref()) {
            return Ok(Page::Ours);
        }
        let allowed = match &self.origins {
            Origins::Any => true,
            Origins::Of(list) => list.contains(&text),
        };
        if allowed {
            return Ok(Page::Of(origin.clone()));
        }
        Err(foreign_page())
    }

    /// What a browser sends for an image or a form of another site has no origin at times.
    fn without_origin(&self, method: &Method, headers: &HeaderMap) -> Result<Page, Refusal> {
        let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
        let from_elsewhere = matches!(site, Some(b"cross-site" | b"same-site"));
        // Following a link to the page is no request of the page that holds it.
        let follows = method == Method::GET
            && headers
                .get("sec-fetch-mode")
                .is_some_and(|mode| mode == "navigate");
        if from_elsewhere && !follows && matches!(self.origins, Origins::Of(_)) {
            return Err(foreign_page());
        }
        Ok(Page::Ours)
    }

    pub(super) fn knows(&self, request: &Request) -> bool {
        let Some(secret) = &self.secret else {
            return true;
        };
        let given = request.headers().get(header::AUTHORIZATION);
        if let Some(given) = given {
            let (scheme, token) = split(given.as_bytes());
            return scheme.eq_ignore_ascii_case(b"Bearer") && secret.is(token);
        }
        // An `EventSource` and a websocket of a browser cannot set headers.
        let token = token(request.uri().query().unwrap_or_default());
        request.method() == Method::GET && token.is_some_and(|token| secret.is(&token))
    }
}

/// The page that asks.
enum Page {
    /// One served here, or none at all.
    Ours,
    /// One of this other origin, which may.
    Of(HeaderValue),
}

/// Lets nobody further who may not ask, and tells browsers which pages may.
pub(super) async fn at_the_door(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let page = match guard.check(request.method(), request.uri(), request.headers()) {
        Ok(page) => page,
        Err(refusal) => return refusal.into_response(),
    };
    let asks_first = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if asks_first {
        leave(&guard, request.headers())
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Page::Of(origin) = page {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

/// Lets nobody further who does not know the secret.
pub(super) async fn with_secret(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    if guard.knows(&request) {
        return next.run(request).await;
    }
    let message = "the secret is missing or wrong; send it as `Authorization: Bearer SECRET`";
    Refusal::new(StatusCode::UNAUTHORIZED, "no_secret", message).into_response()
}

/// What a browser is told that asks whether it may ask.
fn leave(guard: &Guard, asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if guard.private_network && asked.contains_key(ASKS_PRIVATE) {
        headers.insert(ALLOWS_PRIVATE, HeaderValue::from_static("true"));
    }
    response
}

fn foreign_page() -> Refusal {
    let message = "a web page of another origin may not ask; `access_control_allow_origin` in the config lets it";
    Refusal::new(StatusCode::FORBIDDEN, "foreign_origin", message)
}

/// The host that is asked, as who asks names it.
fn authority(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    if let Some(authority) = uri.authority() {
        return Some(authority.clone());
    }
    let host = headers.get(header::HOST)?;
    Authority::try_from(host.as_bytes()).ok()
}

/// Whether no foreign page can have this host as its own by what it has DNS say.
fn leads_here(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    bare.parse::<IpAddr>().is_ok() || name == "localhost" || name.ends_with(".localhost")
}

/// Whether a page of this origin is one served here.
fn is_own(origin: &str, host: Option<&Authority>) -> bool {
    let of = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    match (of, host) {
        (Some(of), Some(host)) => of.eq_ignore_ascii_case(host.as_str()),
        _ => false,
    }
}

/// An authorization's scheme, and what follows.
fn split(authorization: &[u8]) -> (&[u8], &[u8]) {
    let space = authorization.iter().position(|&byte| byte == b' ');
    match space {
        Some(at) => {
            let (scheme, rest) = authorization.split_at(at);
            (scheme, rest.trim_ascii())
        }
        None => (authorization, &[]),
    }
}

/// The secret in a query, decoded.
fn token(query: &str) -> Option<Vec<u8>> {
    let pairs = query.split('&');
    let token = pairs
        .filter_map(|pair| pair.strip_prefix("token="))
        .next()?;
    Some(percent_decode_str(token).collect())
}
