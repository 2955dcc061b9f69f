//! The promises of `associate`. They must not know how a core carries datagrams.

use futures::future::join_all;
use tokio::time::{Instant, timeout};

use super::dialing::no_server;
use super::servers::DatagramServer;
use super::{Broken, GRACE, PATIENCE, SHORT, Scene};
use crate::proxy_core::{Cause, Datagrams, Kind, Network, Outbound, ProxyCore, Target};

/// Ways at once.
const CROWD: usize = 20;

/// An outbound that lists UDP carries datagrams, each to its own target; one that does not
/// refuses, and either is decided by the deadline.
pub async fn datagrams<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let mut broken = Vec::new();
    let list = core.list();
    let carries = |outbound: &Outbound| outbound.networks.contains(&Network::Udp);
    let working = list.iter().find(|outbound| outbound.tag == scene.working);
    if working.is_some_and(carries) {
        broken.extend(echoes(core, &scene.working).await);
    }
    let promise = "an outbound that lists no UDP refuses datagrams, as unsupported";
    for outbound in list.iter().filter(|outbound| !carries(outbound)) {
        if outbound.kind == Kind::Group {
            continue;
        }
        let tag = &outbound.tag;
        match core.associate(tag, Instant::now() + PATIENCE).await {
            Err(error) if error.cause == Cause::Unsupported => {}
            Err(error) => broken.push(Broken::new(promise, format!("`{tag}`: {error:?}"))),
            Ok(_) => broken.push(Broken::new(promise, format!("`{tag}` opens a way"))),
        }
    }
    let promise = "whether a way for datagrams opens is known by the deadline";
    for tag in [scene.refusing.as_ref(), scene.hanging.as_ref()]
        .into_iter()
        .flatten()
    {
        let associate = core.associate(tag, Instant::now() + SHORT);
        if timeout(SHORT + GRACE, associate).await.is_err() {
            let found = format!("`{tag}` does not after {SHORT:?} and {GRACE:?} more");
            broken.push(Broken::new(promise, found));
        }
    }
    broken
}

async fn echoes<C: ProxyCore + ?Sized>(core: &C, tag: &str) -> Vec<Broken> {
    let (one, other) = match (DatagramServer::echo().await, DatagramServer::echo().await) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(error), _) | (_, Err(error)) => return vec![no_server(&error)],
    };
    let mut broken = Vec::new();
    let ways = (0..CROWD).map(|number| echo(core, tag, one.target(), number));
    let failed: Vec<String> = join_all(ways)
        .await
        .into_iter()
        .filter_map(Result::err)
        .collect();
    if let Some(first) = failed.first() {
        let promise = "an outbound that lists UDP carries datagrams to the target and back";
        let found = format!("{} of {CROWD} ways fail: {first}", failed.len());
        broken.push(Broken::new(promise, found));
        return broken;
    }
    let promise = "a datagram goes to its own target, or is refused";
    if let Err(found) = strays(core, tag, &one.target(), &other).await {
        broken.push(Broken::new(promise, found));
    }
    broken
}

/// Whether a datagram comes back; `number` makes it unlike those of others.
async fn echo<C: ProxyCore + ?Sized>(
    core: &C,
    tag: &str,
    target: Target,
    number: usize,
) -> Result<(), String> {
    let way = core.associate(tag, Instant::now() + PATIENCE).await;
    let way = way.map_err(|error| format!("{error:?}"))?;
    let sent = format!("number {number}");
    let (heard, from) = answer(&*way, sent.as_bytes(), &target).await?;
    if heard != sent.as_bytes() || from != target {
        let heard = String::from_utf8_lossy(&heard);
        return Err(format!("{heard:?} of {from} for {sent:?} to {target}"));
    }
    Ok(())
}

/// What comes back. Datagrams may be lost, so that it is asked for again.
async fn answer(
    way: &dyn Datagrams,
    payload: &[u8],
    target: &Target,
) -> Result<(Vec<u8>, Target), String> {
    let asked = async {
        loop {
            let sent = way.send(payload, target).await;
            sent.map_err(|error| format!("{error:?}"))?;
            if let Ok(received) = timeout(SHORT, way.receive()).await {
                return received.map_err(|error| format!("{error:?}"));
            }
        }
    };
    let nothing = |_| Err(format!("nothing came back within {PATIENCE:?}"));
    timeout(PATIENCE, asked).await.unwrap_or_else(nothing)
}

/// Sends to `first`, and then to another on the same way.
async fn strays<C: ProxyCore + ?Sized>(
    core: &C,
    tag: &str,
    first: &Target,
    other: &DatagramServer,
) -> Result<(), String> {
    let way = core.associate(tag, Instant::now() + PATIENCE).await;
    let way = way.map_err(|error| format!("{error:?}"))?;
    answer(&*way, b"first", first).await?;
    let target = other.target();
    // A way may lead to one target alone.
    if way.send(b"other", &target).await.is_err() {
        return Ok(());
    }
    let talk = async {
        loop {
            match answer(&*way, b"other", &target).await? {
                (heard, from) if heard == b"other" && from == target => return Ok(()),
                (heard, from) if heard == b"other" => return Err(format!("it comes from {from}")),
                // The first was sent more than once.
                _ => {}
            }
        }
    };
    let nothing = |_| Err("it never comes back".to_owned());
    timeout(PATIENCE, talk).await.unwrap_or_else(nothing)
}
