//! The promises of `fetch`. They must not know how a core fetches.

use std::time::Duration;

use tokio::time::timeout;

use super::dialing::no_server;
use super::servers::Server;
use super::{Broken, GRACE, PATIENCE, SHORT, Scene};
use crate::proxy_core::{FetchError, ProxyCore, Request, Response};

/// Of the body that is served.
const BODY: usize = 20_000;

/// Of the body that is wanted.
const LIMIT: u32 = 1_000;

/// One exchange: status, wanted headers and body up to the limit; no redirect is followed;
/// over by the deadline.
pub async fn fetches<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let body = "x".repeat(BODY);
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nX-Other: y\r\n\
         Content-Length: {BODY}\r\n\r\n{body}"
    );
    let (server, silent) = match (Server::http(answer).await, Server::silent().await) {
        (Ok(server), Ok(silent)) => (server, silent),
        (Err(error), _) | (_, Err(error)) => return vec![no_server(&error)],
    };
    let mut broken = Vec::new();
    let promise = "a fetch gives the response, its wanted headers and its body up to the limit";
    let wanted = get(&server.url(), PATIENCE);
    let problem = match fetch(core, &scene.working, &wanted).await {
        Some(Ok(response)) => unlike(&response),
        Some(Err(error)) => Some(format!("{error:?}")),
        None => Some(format!("it is not over after {PATIENCE:?}")),
    };
    broken.extend(problem.map(|found| Broken::new(promise, found)));

    let promise = "a fetch that is not answered fails by its deadline";
    let tags = [Some(&scene.working), scene.hanging.as_ref()];
    for tag in tags.into_iter().flatten() {
        match fetch(core, tag, &get(&silent.url(), SHORT)).await {
            Some(Err(_)) => {}
            Some(Ok(response)) => {
                broken.push(Broken::new(promise, format!("`{tag}`: {response:?}")));
            }
            None => {
                let found = format!("`{tag}` has not after {SHORT:?} and {GRACE:?} more");
                broken.push(Broken::new(promise, found));
            }
        }
    }
    broken
}

/// What is wrong with the response.
fn unlike(response: &Response) -> Option<String> {
    let Response {
        status,
        headers,
        body,
        timing,
    } = response;
    let location = [("location".to_owned(), "http://127.0.0.1:1/".to_owned())];
    if *status != 302 {
        Some(format!("the status {status} for 302"))
    } else if headers.as_slice() != location {
        Some(format!("the headers {headers:?}"))
    } else if body.len() != LIMIT as usize || body.iter().any(|byte| *byte != b'x') {
        Some(format!("a body of {} bytes", body.len()))
    } else if timing.dial > timing.first_byte || timing.first_byte > timing.total {
        Some(format!("times out of order: {timing:?}"))
    } else {
        None
    }
}

/// None when it is not over in time.
async fn fetch<C: ProxyCore + ?Sized>(
    core: &C,
    tag: &str,
    request: &Request,
) -> Option<Result<Response, FetchError>> {
    let within = request.deadline + GRACE;
    timeout(within, core.fetch(tag, request)).await.ok()
}

fn get(url: &str, deadline: Duration) -> Request {
    Request {
        url: url.to_owned(),
        method: "GET".to_owned(),
        headers: Vec::new(),
        deadline,
        body_limit: LIMIT,
        response_headers: vec!["location".to_owned()],
        repeat: false,
        family: None,
    }
}
