//! HTTP as a client speaks it to a proxy; HTTP itself is `hyper`'s. It must not know
//! where connections go.

mod forward;
mod headers;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use http::uri::{Authority, Scheme};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::{OnUpgrade, Parts};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt;

use self::forward::Onward;
use super::refusal::Refusal;
use super::relay::relay;
use super::session::{ClientStream, Door, HANDSHAKE, host};
use crate::proxy_core::{FetchError, Io, Target};

/// No head of a request is longer.
const LONGEST_HEAD: usize = 64 * 1024;

/// What is sent to the client: our own words, or what a server answered.
type Body = Either<Full<Bytes>, Incoming>;

/// One connection of a client.
struct Session {
    door: Arc<Door>,
    source: SocketAddr,
    /// The tunnel that a CONNECT opened; it is used when HTTP is over.
    tunnel: Mutex<Option<(OnUpgrade, Box<dyn Io>)>>,
    /// The connection that the last plain request went out on, to be used again.
    onward: Mutex<Option<Onward>>,
}

/// Serves one connection.
pub(super) async fn serve(
    door: Arc<Door>,
    stream: ClientStream,
    source: SocketAddr,
) -> io::Result<()> {
    let session = Arc::new(Session {
        door,
        source,
        tunnel: Mutex::default(),
        onward: Mutex::default(),
    });
    let answering = Arc::clone(&session);
    let service = service_fn(move |request| {
        let session = Arc::clone(&answering);
        async move { Ok::<_, Infallible>(session.answer(request).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HANDSHAKE)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await
        .map_err(io::Error::other)?;
    let opened = lock(&session.tunnel).take();
    match opened {
        Some((upgrade, upstream)) => tunnel(upgrade, upstream).await,
        None => Ok(()),
    }
}

/// Relays what comes after the answer to a CONNECT.
async fn tunnel(upgrade: OnUpgrade, mut upstream: Box<dyn Io>) -> io::Result<()> {
    let upgraded = upgrade.await.map_err(io::Error::other)?;
    let Ok(Parts { io, read_buf, .. }) = upgraded.downcast::<TokioIo<ClientStream>>() else {
        return Err(io::Error::other("the stream is not the one that came in"));
    };
    // What the client sent without waiting for the answer.
    upstream.write_all(&read_buf).await?;
    relay(&mut io.into_inner(), &mut upstream).await.map(drop)
}

impl Session {
    async fn answer(self: &Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let user = match self.user(&request) {
            Ok(user) => user,
            Err(refusal) => return *refusal,
        };
        if request.method() == Method::CONNECT {
            return self.connect(user, request).await;
        }
        let uri = request.uri();
        match (
            uri.scheme(),
            uri.authority().and_then(|to| target(to, Some(80))),
        ) {
            (Some(scheme), Some(target)) if *scheme == Scheme::HTTP => {
                self.forward(user, &target, request).await
            }
            (Some(scheme), Some(_)) => words(
                StatusCode::BAD_REQUEST,
                format!("this proxy reaches `{scheme}:` addresses by CONNECT only"),
            ),
            _ => words(
                StatusCode::BAD_REQUEST,
                "this is a proxy: it takes CONNECT, and requests with an absolute address",
            ),
        }
    }

    /// Who sent a request, or the refusal of one who may not.
    fn user(&self, request: &Request<Incoming>) -> Result<Option<Arc<str>>, Box<Response<Body>>> {
        let users = &self.door.users;
        if users.is_empty() {
            return Ok(None);
        }
        let given = request.headers().get(PROXY_AUTHORIZATION);
        let known = given.and_then(basic).and_then(|given| {
            let colon = given.iter().position(|byte| *byte == b':')?;
            let (name, password) = given.split_at(colon);
            users.find(name, password.strip_prefix(b":")?)
        });
        if known.is_some() {
            return Ok(known);
        }
        let mut refusal = words(
            StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            match given {
                Some(_) => "this proxy does not know this username and password",
                None => "this proxy wants a username and password",
            },
        );
        let challenge = HeaderValue::from_static("Basic realm=\"proxy\", charset=\"UTF-8\"");
        refusal.headers_mut().insert(PROXY_AUTHENTICATE, challenge);
        Err(Box::new(refusal))
    }

    async fn connect(
        &self,
        user: Option<Arc<str>>,
        mut request: Request<Incoming>,
    ) -> Response<Body> {
        let Some(target) = request.uri().authority().and_then(|to| target(to, None)) else {
            let text = "CONNECT needs a host and a port, such as `example.org:443`";
            return words(StatusCode::BAD_REQUEST, text);
        };
        let client = self.door.client(self.source, user);
        match self.door.upstream.connect(&client, &target).await {
            Ok(upstream) => {
                let upgrade = hyper::upgrade::on(&mut request);
                *lock(&self.tunnel) = Some((upgrade, upstream));
                Response::new(Either::Left(Full::default()))
            }
            Err(error) => refused(&error),
        }
    }
}

/// The name and password of `Basic` credentials, with the colon between.
fn basic(credentials: &HeaderValue) -> Option<Vec<u8>> {
    let text = credentials.to_str().ok()?;
    let (scheme, encoded) = text.split_once(' ')?;
    let basic = scheme.eq_ignore_ascii_case("basic");
    basic.then(|| BASE64_STANDARD.decode(encoded.trim()).ok())?
}

/// What a client asks for.
fn target(authority: &Authority, default_port: Option<u16>) -> Option<Target> {
    Some(Target {
        host: host(authority.host())?,
        port: authority.port_u16().or(default_port)?,
        family: None,
    })
}

fn refused(error: &FetchError) -> Response<Body> {
    words(Refusal::from(error).http, error.text.clone())
}

/// A response in our own words.
fn words(status: StatusCode, text: impl Into<String>) -> Response<Body> {
    let text = format!("{}\n", text.into());
    let mut response = Response::new(Either::Left(Full::from(text)));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
