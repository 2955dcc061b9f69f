//! Plain requests with an absolute address, sent on to their server. It must not know
//! who may send them.

use std::sync::Arc;

use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, StatusCode, Uri, Version};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use super::headers::remove_hop_by_hop;
use super::{Body, Session, lock, refused, words};
use crate::fetch::of_http;
use crate::proxy_core::{FetchError, Phase, Target};

/// A connection to a server, for one user.
pub(super) struct Onward {
    target: Target,
    user: Option<Arc<str>>,
    sender: SendRequest<Incoming>,
    /// What moves its bytes; it ends with this.
    _driver: JoinSet<()>,
}

impl Session {
    pub(super) async fn forward(
        &self,
        user: Option<Arc<str>>,
        target: &Target,
        request: Request<Incoming>,
    ) -> Response<Body> {
        let Some(request) = to_server(request) else {
            return words(StatusCode::BAD_REQUEST, "this address cannot be asked for");
        };
        match self.exchange(user, target, request).await {
            Ok(response) if response.status() == StatusCode::SWITCHING_PROTOCOLS => words(
                StatusCode::BAD_GATEWAY,
                format!("{target} changes the protocol without being asked to"),
            ),
            Ok(mut response) => {
                remove_hop_by_hop(response.headers_mut());
                response.map(Either::Right)
            }
            Err(error) => refused(&error),
        }
    }

    /// Sends a request on the connection of the last one, if it leads to the same place
    /// and still stands, or else on a new one.
    async fn exchange(
        &self,
        user: Option<Arc<str>>,
        target: &Target,
        mut request: Request<Incoming>,
    ) -> Result<Response<Incoming>, FetchError> {
        let failed = |error: &hyper::Error| of_http(Phase::Http, &target.to_string(), error);
        let last = lock(&self.onward).take();
        if let Some(mut last) = last.filter(|last| last.target == *target && last.user == user)
            && last.sender.ready().await.is_ok()
        {
            match last.sender.try_send_request(request).await {
                Ok(response) => {
                    *lock(&self.onward) = Some(last);
                    return Ok(response);
                }
                // The server closed it before it took anything: the request is whole.
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(failed(&error.into_error())),
                },
            }
        }
        let mut next = self.open(user, target).await?;
        let response = next.sender.send_request(request).await;
        let response = response.map_err(|error| failed(&error))?;
        *lock(&self.onward) = Some(next);
        Ok(response)
    }

    async fn open(&self, user: Option<Arc<str>>, target: &Target) -> Result<Onward, FetchError> {
        let client = self.door.client(self.source, user.clone());
        let stream = self.door.upstream.connect(&client, target).await?;
        let handshake = http1::Builder::new()
            .preserve_header_case(true)
            .handshake(TokioIo::new(stream))
            .await;
        let (sender, connection) =
            handshake.map_err(|error| of_http(Phase::Http, &target.to_string(), &error))?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            // Its error is also that of the request.
            let _ = connection.await;
        });
        Ok(Onward {
            target: target.clone(),
            user,
            sender,
            _driver: driver,
        })
    }
}

/// The request as its server is to see it: a path instead of an address, and nothing
/// that is between the client and us.
fn to_server(mut request: Request<Incoming>) -> Option<Request<Incoming>> {
    let authority = request.uri().authority()?;
    // Whatever the client wrote there, the address is what counts (RFC 9112, 3.2.2).
    let without_user = authority.as_str().rsplit('@').next()?;
    let host = HeaderValue::from_str(without_user).ok()?;
    let path = request.uri().path_and_query().cloned();
    *request.uri_mut() = Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
    *request.version_mut() = Version::HTTP_11;
    let headers = request.headers_mut();
    remove_hop_by_hop(headers);
    headers.insert(HOST, host);
    Some(request)
}
