//! Cores that break one promise each, and one that keeps them all.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::net::TcpSocket;
use tokio::time::Instant;

use super::{Scene, check};
use crate::config::{self, LoadOptions};
use crate::core::NativeCore;
use crate::proxy_core::{
    Cause, Datagrams, Dialed, FetchError, Host, Network, Outbound, Phase, ProxyCore, Readiness,
    Request, Response, SelectError, Target,
};

/// What a core does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    RepeatsATag,
    NamesNoMember,
    WaitsInStatus,
    PanicsAtStrangers,
    DialsStrangers,
    SendsElsewhere,
    HidesRefusals,
    ForgetsTheDeadline,
    KeepsStreamsOpen,
    ReadsTooMuch,
    MixesUpTraffic,
    HidesUdp,
    PromisesUdp,
    MixesUpTargets,
    ForgetsTheDeadlineOfWays,
}

struct Faulty {
    core: NativeCore,
    fault: Fault,
    /// Kept by one that never closes.
    kept: Arc<std::sync::Mutex<Vec<Dialed>>>,
}

#[async_trait]
impl ProxyCore for Faulty {
    fn list(&self) -> Vec<Outbound> {
        let mut list = self.core.list();
        if self.fault == Fault::RepeatsATag {
            list.push(Outbound::new("works", "direct"));
        }
        if self.fault == Fault::HidesUdp {
            list[0].networks = vec![Network::Tcp];
        }
        list
    }

    fn selected(&self, group: &str, network: Network) -> Option<String> {
        match self.fault {
            Fault::NamesNoMember => Some("nobody".to_owned()),
            Fault::MixesUpTraffic => self.core.selected(group, Network::Tcp),
            _ => self.core.selected(group, network),
        }
    }

    fn select(&self, group: &str, network: Network, member: &str) -> Result<(), SelectError> {
        self.core.select(group, network, member)
    }

    fn status(&self, tag: &str) -> Readiness {
        if self.fault == Fault::WaitsInStatus && tag == "works" {
            std::thread::sleep(Duration::from_millis(300));
        }
        self.core.status(tag)
    }

    async fn dial(
        &self,
        tag: &str,
        target: &Target,
        deadline: Instant,
    ) -> Result<Dialed, FetchError> {
        let known = ["works", "dead", "deaf"].contains(&tag);
        match self.fault {
            Fault::PanicsAtStrangers => assert!(known, "who is that?"),
            Fault::DialsStrangers if !known => {
                let stream = Box::new(tokio::io::empty());
                return Ok(Dialed { stream, dns: None });
            }
            Fault::ForgetsTheDeadline if tag == "deaf" => std::future::pending().await,
            _ => {}
        }
        let mut target = target.clone();
        if self.fault == Fault::SendsElsewhere && known {
            target.host = Host::Ip([127, 0, 0, 99].into());
        }
        let mut dialed = self.core.dial(tag, &target, deadline).await;
        match (&mut dialed, self.fault) {
            (Err(error), Fault::HidesRefusals) => error.cause = Cause::Other,
            (Ok(dialed), Fault::KeepsStreamsOpen) => {
                let (ours, theirs) = tokio::io::duplex(64);
                let stream = std::mem::replace(&mut dialed.stream, Box::new(ours));
                tokio::spawn(carry(stream, theirs, self.kept.clone()));
            }
            _ => {}
        }
        dialed
    }

    async fn associate(
        &self,
        tag: &str,
        deadline: Instant,
    ) -> Result<Box<dyn Datagrams>, FetchError> {
        let way = self.core.associate(tag, deadline).await;
        match self.fault {
            Fault::PromisesUdp => Err(way
                .err()
                .unwrap_or_else(|| FetchError::new(Phase::Dial, Cause::Unsupported, "not today"))),
            Fault::ForgetsTheDeadlineOfWays if tag == "deaf" => std::future::pending().await,
            Fault::MixesUpTargets => Ok(Box::new(ToTheFirst(way?, OnceLock::new()))),
            _ => way,
        }
    }

    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        let mut request = request.clone();
        if self.fault == Fault::ReadsTooMuch {
            request.body_limit *= 2;
        }
        crate::fetch::through_dial(self, tag, &request, &crate::fetch::Trust::none()).await
    }
}

/// A way on which all goes to the first target.
struct ToTheFirst(Box<dyn Datagrams>, OnceLock<Target>);

#[async_trait]
impl Datagrams for ToTheFirst {
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        let first = self.1.get_or_init(|| target.clone());
        self.0.send(payload, first).await
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        self.0.receive().await
    }
}

/// Carries bytes both ways, and keeps the far stream when the near one is dropped.
async fn carry(
    mut far: Box<dyn crate::proxy_core::Io>,
    mut near: tokio::io::DuplexStream,
    kept: Arc<std::sync::Mutex<Vec<Dialed>>>,
) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let (mut one, mut other) = ([0; 256], [0; 256]);
    loop {
        tokio::select! {
            read = near.read(&mut one) => match read {
                Ok(count @ 1..) => far.write_all(&one[..count]).await.unwrap(),
                _ => break,
            },
            read = far.read(&mut other) => match read {
                Ok(count @ 1..) => near.write_all(&other[..count]).await.unwrap(),
                _ => break,
            },
        }
    }
    kept.lock().unwrap().push(Dialed {
        stream: far,
        dns: None,
    });
}

/// Two ports that nobody answers on: one refuses, one says nothing.
struct Ports {
    refuses: TcpSocket,
    says_nothing: tokio::net::TcpListener,
}

async fn broken(fault: Fault) -> Vec<super::Broken> {
    let any = "127.0.0.1:0".parse().unwrap();
    let ports = Ports {
        refuses: TcpSocket::new_v4().unwrap(),
        says_nothing: tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap(),
    };
    ports.refuses.bind(any).unwrap();
    let socks = |tag: &str, port| json!({ "type": "socks", "tag": tag, "server": "127.0.0.1", "server_port": port });
    let config = json!({ "outbounds": [
        { "type": "direct", "tag": "works" },
        socks("dead", ports.refuses.local_addr().unwrap().port()),
        socks("deaf", ports.says_nothing.local_addr().unwrap().port()),
        { "type": "selector", "tag": "choice", "outbounds": ["works", "dead", "deaf"] },
    ] });
    let loaded = config::read("x", config.to_string().as_bytes(), &LoadOptions::default());
    let core = Faulty {
        core: NativeCore::new(&loaded.config.unwrap().entries, None).0,
        fault,
        kept: Arc::default(),
    };
    let scene = Scene::of("works")
        .refusing("dead")
        .hanging("deaf")
        .group("choice");
    check(&core, &scene).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_core_that_keeps_every_promise_breaks_none() {
    assert_eq!(broken(Fault::None).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_broken_promise_is_found_and_named() {
    let expected = [
        (Fault::RepeatsATag, "a tag is unique"),
        (
            Fault::NamesNoMember,
            "`selected` names a member of the group",
        ),
        (
            Fault::WaitsInStatus,
            "`list`, `status` and `selected` return at once",
        ),
        (Fault::PanicsAtStrangers, "a core never panics"),
        (
            Fault::DialsStrangers,
            "a tag that is not listed is an error and nothing else",
        ),
        (
            Fault::SendsElsewhere,
            "a stream carries bytes to the target and back",
        ),
        (
            Fault::HidesRefusals,
            "an outbound whose server refuses connections fails at once, as refused",
        ),
        (Fault::ForgetsTheDeadline, "a dial is over by its deadline"),
        (
            Fault::ReadsTooMuch,
            "a fetch gives the response, its wanted headers and its body up to the limit",
        ),
        (
            Fault::MixesUpTraffic,
            "a selection holds at once, for each kind of traffic by itself",
        ),
        (
            Fault::HidesUdp,
            "an outbound that lists no UDP refuses datagrams, as unsupported",
        ),
        (
            Fault::PromisesUdp,
            "an outbound that lists UDP carries datagrams to the target and back",
        ),
        (
            Fault::MixesUpTargets,
            "a datagram goes to its own target, or is refused",
        ),
        (
            Fault::ForgetsTheDeadlineOfWays,
            "whether a way for datagrams opens is known by the deadline",
        ),
    ];
    let checks = expected.map(|(fault, promise)| async move {
        let broken = broken(fault).await;
        let found = broken.iter().any(|broken| broken.promise == promise);
        assert!(found, "{fault:?}: {broken:?}");
    });
    futures::future::join_all(checks).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_stays_open_is_found() {
    let broken = broken(Fault::KeepsStreamsOpen).await;
    let promise = "dropping a stream closes the connection to the target";
    assert!(
        broken.iter().any(|broken| broken.promise == promise),
        "{broken:?}"
    );
}
