//! Datagrams through a core, and whether they come back. It must not know which core, nor
//! what is tried with them.

use std::time::Duration;

use outwatch::{Datagrams, FetchError, Host, Network, ProxyCore, Target};
use outwatch_tests::peers::UdpEcho;
use tokio::time::{Instant, timeout};

/// Far beyond what a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(30);

/// In which what never comes would come.
const SHORT: Duration = Duration::from_millis(300);

/// A way through `tag`.
pub(crate) async fn associate(core: &impl ProxyCore, tag: &str) -> Box<dyn Datagrams> {
    let way = try_associate(core, tag).await;
    way.unwrap_or_else(|error| panic!("{tag}: {error:?}"))
}

pub(crate) async fn try_associate(
    core: &impl ProxyCore,
    tag: &str,
) -> Result<Box<dyn Datagrams>, FetchError> {
    core.associate(tag, Instant::now() + PATIENCE).await
}

/// Whether the core lists UDP for `tag`.
pub(crate) fn lists_udp(core: &impl ProxyCore, tag: &str) -> bool {
    let listed = core.list().into_iter().find(|one| one.tag == tag);
    listed
        .expect("a listed tag")
        .networks
        .contains(&Network::Udp)
}

/// A port of 127.0.0.1, by address.
pub(crate) fn here(port: u16) -> Target {
    Target {
        host: Host::Ip([127, 0, 0, 1].into()),
        port,
        family: None,
    }
}

/// Fails unless a payload comes back from `echo`, which is at `target`. A datagram may be
/// lost, even here, so that it is sent again until one does.
pub(crate) async fn echoes(way: &dyn Datagrams, echo: &UdpEcho, target: &Target, payload: &[u8]) {
    let talk = async {
        loop {
            way.send(payload, target).await.expect("it is sent");
            let Ok((heard, from)) = timeout(SHORT * 3, receive(way)).await else {
                continue;
            };
            // What was sent twice may come late.
            if from.port == echo.port() && heard == payload {
                return from;
            }
        }
    };
    let from = timeout(PATIENCE, talk).await;
    let from = from.unwrap_or_else(|_| panic!("no answer of {target} to {} bytes", payload.len()));
    // Its address, or the name that it was sent to.
    let sources = [here(echo.port()), target.clone()];
    assert!(sources.contains(&from), "{from}");
}

async fn receive(way: &dyn Datagrams) -> (Vec<u8>, Target) {
    way.receive().await.expect("a datagram")
}

/// Why nothing comes back.
pub(crate) async fn failure(way: &dyn Datagrams, target: &Target) -> FetchError {
    // That may tell it too, but need not.
    let _ = way.send(b"is anybody there?", target).await;
    let received = timeout(PATIENCE, way.receive()).await;
    received.expect("an end in time").expect_err("an end")
}

/// Fails if anything comes back, or the way ends.
pub(crate) async fn hears_nothing(way: &dyn Datagrams, target: &Target) {
    way.send(b"is anybody there?", target)
        .await
        .expect("it is sent");
    let received = timeout(SHORT, way.receive()).await;
    assert!(received.is_err(), "{received:?}");
}
