//! The IP service: tells each caller the exit that it came out of.
//! It must not know the proxies; it looks at the caller's address, like a real one.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;

use crate::network::Network;

pub(crate) async fn answer(stream: TcpStream, network: Arc<Network>) -> io::Result<()> {
    let peer = stream.peer_addr()?;
    let body = match network.exit_of(peer) {
        Some(exit) => exit.to_json(),
        None => json!({ "ip": peer.ip() }),
    };
    let body = Bytes::from(body.to_string());
    let service = service_fn(move |_| {
        let mut response = Response::new(Full::new(body.clone()));
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        async { Ok::<_, Infallible>(response) }
    });
    hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await
        .map_err(io::Error::other)
}
