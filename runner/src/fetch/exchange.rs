//! One request and its response over an open stream, and the same again if asked.
//! It must not know how the stream was opened.

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};

use super::failure::of_http;
use super::plan::Plan;
use super::{Fetch, head};
use crate::proxy_core::{Cause, FetchError, Io, Phase, Response, Target, Timing};

/// Largest head of a response, in bytes.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;

/// Sends the planned head and reads what is wanted of the response.
///
/// The HTTP connection is driven by this very future: dropping it closes the stream.
pub(super) async fn exchange<S: Io>(
    stream: S,
    fetch: &Fetch<'_>,
    timing: Timing,
) -> Result<Response, FetchError> {
    match &fetch.plan.by_head {
        Some(wire) => head::exchange(stream, wire, fetch, timing).await,
        // Its client is large, and few exchanges need it.
        None => Box::pin(whole(stream, fetch, timing)).await,
    }
}

async fn whole<S: Io>(
    stream: S,
    fetch: &Fetch<'_>,
    mut timing: Timing,
) -> Result<Response, FetchError> {
    let (plan, target) = (&*fetch.plan, fetch.target());
    let (request, deadline) = (fetch.request, fetch.deadline);
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_LIMIT)
        // As browsers write them: some servers and proxies know no other spelling.
        .title_case_headers(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| of_http(Phase::Http, &target.to_string(), &error))?;
    let talk = async {
        let mut sender = sender;
        let first = first_response(&mut sender, fetch, &mut timing);
        let (mut response, reusable) = timeout_at(deadline, first)
            .await
            .unwrap_or_else(|_| Err(timeout(target)))?;
        if request.repeat && reusable {
            // T-3: a second round trip that fails or is late takes nothing away.
            let second = timeout_at(deadline, round_trip_again(&mut sender, plan)).await;
            timing.repeat = second.ok().flatten();
        }
        response.timing = timing;
        Ok(response)
    };
    let mut talk = std::pin::pin!(talk);
    tokio::select! {
        biased;
        result = &mut talk => result,
        // Its error, if any, is also the answer to the request in flight. The stream is
        // dropped in a moment, which is a shutdown for less.
        _ = connection.without_shutdown() => talk.await,
    }
}

/// The response, and whether the connection can carry another request.
async fn first_response(
    sender: &mut SendRequest<Empty<Bytes>>,
    fetch: &Fetch<'_>,
    timing: &mut Timing,
) -> Result<(Response, bool), FetchError> {
    let Fetch {
        plan,
        request,
        start,
        ..
    } = fetch;
    let target = fetch.target();
    let failed = |error: hyper::Error| of_http(Phase::Http, &target.to_string(), &error);
    let response = sender
        .send_request(plan.head.clone())
        .await
        .map_err(failed)?;
    timing.first_byte = start.elapsed();

    let (head, mut incoming) = response.into_parts();
    let (body, reusable) = read_body(&mut incoming, request.body_limit as usize)
        .await
        .map_err(failed)?;
    timing.total = start.elapsed();
    let headers = head
        .headers
        .iter()
        .filter(|(name, _)| {
            request
                .response_headers
                .iter()
                .any(|wanted| wanted == name.as_str())
        })
        .map(|(name, value)| {
            (
                name.as_str().to_owned(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect();
    let status = head.status.as_u16();
    Ok((
        Response {
            status,
            headers,
            body,
            timing: *timing,
        },
        reusable,
    ))
}

/// At most `limit` bytes, and whether that was all of the body.
async fn read_body(body: &mut Incoming, limit: usize) -> Result<(Vec<u8>, bool), hyper::Error> {
    let mut read = Vec::new();
    while read.len() < limit {
        match body.frame().await.transpose()? {
            Some(frame) => {
                if let Some(data) = frame.data_ref() {
                    let room = limit - read.len();
                    if data.len() > room {
                        read.extend(data.iter().take(room));
                        return Ok((read, false));
                    }
                    read.extend_from_slice(data);
                }
            }
            None => return Ok((read, true)),
        }
    }
    Ok((read, body.is_end_stream()))
}

/// How long a second response took to come, if one came.
async fn round_trip_again(
    sender: &mut SendRequest<Empty<Bytes>>,
    plan: &Plan,
) -> Option<std::time::Duration> {
    sender.ready().await.ok()?;
    let sent = Instant::now();
    sender.send_request(plan.head.clone()).await.ok()?;
    Some(sent.elapsed())
}

pub(super) fn timeout(target: &Target) -> FetchError {
    let text = format!("{target} did not answer the HTTP request in time");
    FetchError::new(Phase::Http, Cause::Timeout, text)
}
