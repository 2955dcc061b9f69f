//! HTTP CONNECT as a proxy speaks it; HTTP itself is `hyper`'s.
//! It must not know why a way is refused, only what to answer.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};

use super::{Host, Refusal};
use crate::network::Passage;

/// The tunnel that a CONNECT opened; it starts when HTTP is over.
type Tunnel = Arc<Mutex<Option<(OnUpgrade, Passage)>>>;

pub(super) async fn serve<S>(host: Arc<Host>, client: S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let tunnel = Tunnel::default();
    let opened = tunnel.clone();
    let service = service_fn(move |request| connect(host.clone(), opened.clone(), request));
    hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(client), service)
        .with_upgrades()
        .await
        .map_err(io::Error::other)?;

    let opened = tunnel.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((upgrade, mut passage)) = opened else {
        return Ok(());
    };
    let client = upgrade.await.map_err(io::Error::other)?;
    copy_bidirectional(&mut TokioIo::new(client), &mut passage.stream)
        .await
        .map(drop)
}

/// Answers one request. An error drops the client without an answer.
async fn connect(
    host: Arc<Host>,
    tunnel: Tunnel,
    mut request: Request<Incoming>,
) -> io::Result<Response<Empty<Bytes>>> {
    if !is_welcome(&host, &request) {
        let mut response = status(StatusCode::PROXY_AUTHENTICATION_REQUIRED);
        let challenge = HeaderValue::from_static("Basic realm=\"demo\"");
        response.headers_mut().insert(PROXY_AUTHENTICATE, challenge);
        return Ok(response);
    }
    let target = request.uri().authority().cloned();
    let Some(target) = target.filter(|_| request.method() == Method::CONNECT) else {
        return Ok(status(StatusCode::METHOD_NOT_ALLOWED));
    };
    let name = target.host().trim_start_matches('[').trim_end_matches(']');
    match host.open(name, target.port_u16().unwrap_or(443)).await {
        Ok(passage) => {
            let upgrade = hyper::upgrade::on(&mut request);
            *tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some((upgrade, passage));
            Ok(status(StatusCode::OK))
        }
        Err(Refusal::Outside) => Ok(status(StatusCode::FORBIDDEN)),
        Err(Refusal::Mood) => Err(io::ErrorKind::ConnectionAborted.into()),
        Err(Refusal::Unreachable(_)) => Ok(status(StatusCode::BAD_GATEWAY)),
    }
}

fn is_welcome(host: &Host, request: &Request<Incoming>) -> bool {
    let Some((name, password)) = &host.proxy.account else {
        return true;
    };
    let expected = format!(
        "Basic {}",
        BASE64_STANDARD.encode(format!("{name}:{password}"))
    );
    request
        .headers()
        .get(PROXY_AUTHORIZATION)
        .is_some_and(|given| given == expected.as_str())
}

fn status(status: StatusCode) -> Response<Empty<Bytes>> {
    let mut response = Response::new(Empty::new());
    *response.status_mut() = status;
    response
}
