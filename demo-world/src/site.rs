//! The site to test against: it answers 204 over TLS, like those that phones use.
//! It must not know who calls.

use std::convert::Infallible;
use std::io;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

pub(crate) async fn answer(stream: TcpStream, tls: TlsAcceptor) -> io::Result<()> {
    let stream = tls.accept(stream).await?;
    hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service_fn(no_content))
        .await
        .map_err(io::Error::other)
}

async fn no_content(request: Request<Incoming>) -> Result<Response<Empty<Bytes>>, Infallible> {
    let mut response = Response::new(Empty::new());
    *response.status_mut() = match request.uri().path() {
        "/generate_204" => StatusCode::NO_CONTENT,
        _ => StatusCode::NOT_FOUND,
    };
    Ok(response)
}
