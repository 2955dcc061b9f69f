//! A stream taken over from HTTP/1.1: one request, and after a response that agrees the
//! connection is ours. It must not know what is asked for.

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::way::Stream;
use crate::fetch::of_http;
use crate::proxy_core::{Cause, FetchError, Phase};

/// Largest head of a response, in bytes.
const HEAD_LIMIT: usize = 64 * 1024;

/// Sends `request` over `stream` to `peer` (for people) and takes the stream over when
/// `agreed` finds that the response says so.
pub(super) async fn upgrade(
    stream: Stream,
    request: http::Request<Empty<Bytes>>,
    peer: &str,
    agreed: impl FnOnce(&http::Response<Incoming>) -> Result<(), FetchError>,
) -> Result<Stream, FetchError> {
    let failed = |error: hyper::Error| match of_http(Phase::Proxy, peer, &error) {
        error if error.cause == Cause::HttpMalformed => FetchError {
            cause: Cause::ProxyHandshake,
            ..error
        },
        error => error,
    };
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_LIMIT)
        .title_case_headers(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    let mut connection = std::pin::pin!(connection.with_upgrades());
    let talk = async {
        let response = sender.send_request(request).await.map_err(failed)?;
        agreed(&response)?;
        hyper::upgrade::on(response).await.map_err(failed)
    };
    let mut talk = std::pin::pin!(talk);
    let upgraded = tokio::select! {
        biased;
        result = &mut talk => result?,
        _ = &mut connection => talk.await?,
    };
    Ok(Box::new(TokioIo::new(upgraded)))
}
