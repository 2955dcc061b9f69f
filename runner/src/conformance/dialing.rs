//! The promises of `dial`. They must not know what is fetched.

use futures::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout};

use super::servers::Server;
use super::{Broken, GRACE, PATIENCE, SHORT, Scene};
use crate::proxy_core::{Cause, Dialed, FetchError, ProxyCore, Target};

/// Dials at once.
const CROWD: usize = 100;

/// A stream leads to the target, both ways.
pub async fn streams<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let promise = "a stream carries bytes to the target and back";
    let server = match Server::echo().await {
        Ok(server) => server,
        Err(error) => return vec![no_server(&error)],
    };
    let echoed = echoed(core, &scene.working, &server.target(), 7).await;
    Vec::from_iter(echoed.err().map(|found| Broken::new(promise, found)))
}

/// A server that refuses is told as [`Cause::Refused`], in words, long before the
/// deadline.
pub async fn refusals<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let Some(tag) = &scene.refusing else {
        return Vec::new();
    };
    let promise = "an outbound whose server refuses connections fails at once, as refused";
    let server = match Server::silent().await {
        Ok(server) => server,
        Err(error) => return vec![no_server(&error)],
    };
    let target = server.target();
    let begun = Instant::now();
    let found = match core.dial(tag, &target, begun + PATIENCE).await {
        Ok(_) => "a stream".to_owned(),
        Err(error) if error.cause != Cause::Refused => format!("{error:?}"),
        Err(error) if error.text.trim().is_empty() => "an error without words".to_owned(),
        Err(_) if begun.elapsed() >= PATIENCE => "it waits for the deadline".to_owned(),
        Err(_) => return Vec::new(),
    };
    vec![Broken::new(promise, found)]
}

/// A dial is over by its deadline, whatever the server does.
pub async fn deadlines<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let promise = "a dial is over by its deadline";
    let server = match Server::silent().await {
        Ok(server) => server,
        Err(error) => return vec![no_server(&error)],
    };
    let target = server.target();
    let mut broken = Vec::new();
    let tags = [
        Some(&scene.working),
        scene.refusing.as_ref(),
        scene.hanging.as_ref(),
    ];
    for tag in tags.into_iter().flatten() {
        for time in [SHORT, std::time::Duration::ZERO] {
            let dial = core.dial(tag, &target, Instant::now() + time);
            if timeout(time + GRACE, dial).await.is_err() {
                let found = format!("`{tag}` is not after {time:?} and {GRACE:?} more");
                broken.push(Broken::new(promise, found));
            }
        }
    }
    broken
}

/// A stream that is dropped is closed, and a dial that is dropped is over.
pub async fn drops<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let promise = "dropping a stream closes the connection to the target";
    let mut server = match Server::echo().await {
        Ok(server) => server,
        Err(error) => return vec![no_server(&error)],
    };
    // The echo shows that the connection to the target was open.
    if let Err(found) = echoed(core, &scene.working, &server.target(), 1).await {
        return vec![Broken::new(promise, found)];
    }
    let mut broken = Vec::new();
    if timeout(PATIENCE, server.connection_ended()).await.is_err() {
        broken.push(Broken::new(promise, "it stays open"));
    }
    let Some(tag) = &scene.hanging else {
        return broken;
    };
    let target = server.target();
    let dial = || timeout(SHORT, core.dial(tag, &target, Instant::now() + PATIENCE));
    join_all((0..CROWD).map(|_| dial())).await;
    if let Err(found) = echoed(core, &scene.working, &target, 2).await {
        let promise = "dials that are dropped leave nothing in the way of others";
        broken.push(Broken::new(promise, found));
    }
    broken
}

/// Many dials at once all get a stream of their own.
pub async fn crowds<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let server = match Server::echo().await {
        Ok(server) => server,
        Err(error) => return vec![no_server(&error)],
    };
    let target = server.target();
    let dials = (0..CROWD).map(|number| echoed(core, &scene.working, &target, number));
    let failed: Vec<String> = join_all(dials)
        .await
        .into_iter()
        .filter_map(Result::err)
        .collect();
    let promise = "many dials at once each get a stream of their own";
    let found = failed
        .first()
        .map(|first| format!("{} of {CROWD} fail: {first}", failed.len()));
    Vec::from_iter(found.map(|found| Broken::new(promise, found)))
}

/// Whether bytes come back; `number` makes them unlike those of others.
async fn echoed<C: ProxyCore + ?Sized>(
    core: &C,
    tag: &str,
    target: &Target,
    number: usize,
) -> Result<(), String> {
    let exchange = async {
        let dialed = core.dial(tag, target, Instant::now() + PATIENCE).await;
        let Dialed { mut stream, .. } = dialed.map_err(|error: FetchError| format!("{error:?}"))?;
        let sent = format!("number {number}");
        let mut back = vec![0; sent.len()];
        let io = |error: std::io::Error| error.to_string();
        stream.write_all(sent.as_bytes()).await.map_err(io)?;
        stream.flush().await.map_err(io)?;
        stream.read_exact(&mut back).await.map_err(io)?;
        if back == sent.as_bytes() {
            Ok(())
        } else {
            Err(format!("{:?} for {sent:?}", String::from_utf8_lossy(&back)))
        }
    };
    timeout(PATIENCE, exchange)
        .await
        .unwrap_or_else(|_| Err(format!("nothing came back within {PATIENCE:?}")))
}

/// Nothing of the core's, but nothing was checked either.
pub(super) fn no_server(error: &std::io::Error) -> Broken {
    Broken::new("the check can listen on 127.0.0.1", error.to_string())
}
