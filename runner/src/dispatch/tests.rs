//! Connections through groups of a core that dials as the test says, with a real monitor
//! beside, on virtual time.

mod datagrams;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, timeout};

use super::Dispatch;
use crate::Monitor;
use crate::group::{GroupPlan, Groups, Policy};
use crate::inbound::{Client, Connections, Upstream};
use crate::proxy_core::{
    Cause, Datagrams, Dialed, FetchError, Host, Network, Outbound, Phase, ProxyCore, Request,
    Response, SelectError, Target, Timing,
};
use crate::report::{Reason, Report, State, View};
use crate::store::MemoryCache;
use crate::testing::{PATIENCE, report};

/// A core of outbounds and the group `g` of all of them.
#[derive(Default)]
struct Core {
    outbounds: Vec<Outbound>,
    /// Why dials of an outbound fail; the others open.
    faults: Mutex<BTreeMap<String, (Phase, Cause)>>,
    /// Why streams and ways through an outbound end once they are read from.
    ends: Mutex<BTreeMap<String, (Phase, Cause)>>,
    dialed: Mutex<Vec<String>>,
    fetched: AtomicUsize,
    led: Mutex<Option<String>>,
}

#[async_trait]
impl ProxyCore for Core {
    fn list(&self) -> Vec<Outbound> {
        let tags = self.outbounds.iter().map(|outbound| outbound.tag.clone());
        let group = Outbound::group("g", "balancer", tags);
        self.outbounds.iter().cloned().chain([group]).collect()
    }

    fn selected(&self, _: &str, _: Network) -> Option<String> {
        self.led.lock().unwrap().clone()
    }

    fn select(&self, _: &str, network: Network, member: &str) -> Result<(), SelectError> {
        if network == Network::Tcp {
            *self.led.lock().unwrap() = Some(member.to_owned());
        }
        Ok(())
    }

    async fn dial(&self, tag: &str, _: &Target, _: Instant) -> Result<Dialed, FetchError> {
        self.dialed.lock().unwrap().push(tag.to_owned());
        if let Some(&(phase, cause)) = self.faults.lock().unwrap().get(tag) {
            return Err(FetchError::new(phase, cause, "as the test says"));
        }
        if let Some(&(phase, cause)) = self.ends.lock().unwrap().get(tag) {
            let error = FetchError::new(phase, cause, "as the test says");
            let stream = Box::new(Ends(error));
            return Ok(Dialed { stream, dns: None });
        }
        // The other end stays open and silent.
        let (stream, other) = tokio::io::duplex(64);
        tokio::spawn(async move {
            let mut other = other;
            let _ = other.read(&mut [0; 8]).await;
        });
        Ok(Dialed {
            stream: Box::new(stream),
            dns: None,
        })
    }

    async fn associate(&self, tag: &str, _: Instant) -> Result<Box<dyn Datagrams>, FetchError> {
        self.dialed.lock().unwrap().push(tag.to_owned());
        if let Some(&(phase, cause)) = self.faults.lock().unwrap().get(tag) {
            return Err(FetchError::new(phase, cause, "as the test says"));
        }
        let end = self.ends.lock().unwrap().get(tag).copied();
        Ok(Box::new(datagrams::Way { end }))
    }

    async fn fetch(&self, tag: &str, _: &Request) -> Result<Response, FetchError> {
        self.fetched.fetch_add(1, Ordering::Relaxed);
        if let Some(&(phase, cause)) = self.faults.lock().unwrap().get(tag) {
            return Err(FetchError::new(phase, cause, "as the test says"));
        }
        Ok(Response {
            status: 204,
            headers: Vec::new(),
            body: Vec::new(),
            timing: Timing {
                first_byte: Duration::from_millis(40),
                ..Timing::default()
            },
        })
    }
}

/// A stream that takes everything and fails to be read.
struct Ends(FetchError);

impl AsyncRead for Ends {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::Error::other(self.0.clone())))
    }
}

impl AsyncWrite for Ends {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A dispatch through `g`, after the first cycle.
struct Scene {
    core: Arc<Core>,
    monitor: Monitor,
    groups: Groups,
    dispatch: Dispatch,
}

impl Scene {
    async fn new(plan: GroupPlan, outbounds: Vec<Outbound>) -> Self {
        let options = r#"{"ip_lookup": false, "idle_timeout": "1000h"}"#;
        Self::with_options(plan, outbounds, options).await
    }

    async fn with_options(plan: GroupPlan, outbounds: Vec<Outbound>, options: &str) -> Self {
        let core = Arc::new(Core {
            outbounds,
            ..Core::default()
        });
        let groups = Groups::new(core.clone(), [plan], Arc::new(MemoryCache::default()));
        let monitor = Monitor::builder(core.clone()).options(options);
        let monitor = monitor.start().await.expect("a monitor");
        let (kept, of) = (groups.clone(), monitor.clone());
        tokio::spawn(async move { kept.keep(&of).await });
        let dispatch = Dispatch::new(core.clone(), groups.clone(), monitor.clone(), "g");
        let scene = Self {
            core,
            monitor,
            groups,
            dispatch,
        };
        for outbound in scene.core.outbounds.clone() {
            scene
                .report(&outbound.tag, |report| report.state == State::Ok)
                .await;
        }
        scene
    }

    async fn with(policy: Policy, tags: &[&str]) -> Self {
        let outbounds = tags.iter().map(|&tag| Outbound::new(tag, "x"));
        Self::new(GroupPlan::new("g", policy), outbounds.collect()).await
    }

    fn fails(&self, tag: &str, phase: Phase, cause: Cause) {
        let mut faults = self.core.faults.lock().unwrap();
        faults.insert(tag.to_owned(), (phase, cause));
    }

    async fn connect(&self) -> Result<Box<dyn crate::Io>, FetchError> {
        self.dispatch.connect(&client(), &target()).await
    }

    fn dialed(&self) -> Vec<String> {
        std::mem::take(&mut self.core.dialed.lock().unwrap())
    }

    /// The first report of a tag that is as `wanted`.
    async fn report(&self, tag: &str, wanted: impl Fn(&Report) -> bool) -> Report {
        report(&self.monitor, tag, wanted).await
    }
}

fn client() -> Client {
    Client {
        inbound: "in".into(),
        source: SocketAddr::from(([192, 0, 2, 1], 40_000)),
        user: None,
    }
}

fn target() -> Target {
    Target {
        host: Host::Name("x.test".into()),
        port: 443,
        family: None,
    }
}

const LOWEST: Policy = Policy::LowestDelay { tolerance_ms: 50 };

#[tokio::test(start_paused = true)]
async fn g7_a_member_that_cannot_be_dialed_is_tested_at_once_and_another_carries_the_connection() {
    let scene = Scene::with(LOWEST, &["a", "b"]).await;
    scene.fails("a", Phase::Dial, Cause::Refused);
    assert!(scene.connect().await.is_ok());
    assert_eq!(scene.dialed(), ["a", "b"]);
    let failed = scene
        .report("a", |report| report.state == State::Failed)
        .await;
    assert_eq!(failed.reason, Some(Reason::ConnectionFailed), "E-1");
    let moved = |report: &Report| report.via.as_deref() == Some("b");
    scene.report("g", moved).await;
    assert!(scene.connect().await.is_ok());
    assert_eq!(scene.dialed(), ["b"], "the group leads elsewhere now");
}

#[tokio::test(start_paused = true)]
async fn e1_a_stream_that_fails_before_an_answer_tests_its_member() {
    let scene = Scene::with(LOWEST, &["a", "b"]).await;
    let end = (Phase::Proxy, Cause::Eof);
    scene.core.ends.lock().unwrap().insert("a".to_owned(), end);
    let mut stream = scene.connect().await.expect("a stream");
    scene.fails("a", end.0, end.1);
    stream.write_all(b"hello").await.unwrap();
    assert!(stream.read(&mut [0; 8]).await.is_err());
    let failed = scene
        .report("a", |report| report.state == State::Failed)
        .await;
    assert_eq!(failed.reason, Some(Reason::ConnectionFailed));
}

#[tokio::test(start_paused = true)]
async fn g7_one_other_member_is_tried_and_no_more() {
    let scene = Scene::with(Policy::RoundRobin { ratio: 2.0 }, &["a", "b", "c"]).await;
    for tag in ["a", "b", "c"] {
        scene.fails(tag, Phase::Proxy, Cause::Eof);
    }
    let error = scene.connect().await.err().expect("an error");
    assert_eq!((error.phase, error.cause), (Phase::Proxy, Cause::Eof));
    let dialed = scene.dialed();
    assert_eq!(dialed.len(), 2, "{dialed:?}");
    assert_eq!(dialed.iter().collect::<BTreeSet<_>>().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn g7_a_persons_choice_is_not_replaced_by_another() {
    let scene = Scene::with(Policy::Selected, &["a", "b"]).await;
    scene.fails("a", Phase::Dial, Cause::Refused);
    assert!(scene.connect().await.is_err());
    assert_eq!(scene.dialed(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn e8_what_the_destination_refuses_is_no_fault_of_the_member() {
    let direct = Outbound {
        exit_follows_host: true,
        ..Outbound::new("direct", "direct")
    };
    for (outbound, phase) in [
        (Outbound::new("a", "x"), Phase::Proxy),
        (direct, Phase::Dial),
    ] {
        let tag = outbound.tag.clone();
        let outbounds = vec![outbound, Outbound::new("other", "x")];
        let scene = Scene::new(GroupPlan::new("g", LOWEST), outbounds).await;
        scene.fails(&tag, phase, Cause::Refused);
        let error = scene.connect().await.err().expect("an error");
        assert_eq!(error.cause, Cause::Refused);
        assert_eq!(
            scene.dialed().as_slice(),
            std::slice::from_ref(&tag),
            "no other is tried"
        );
        tokio::time::sleep(Duration::from_secs(60)).await;
        let report = scene.monitor.report(tag, View::Confirmed).await;
        assert_eq!(
            report.expect("a report").state,
            State::Ok,
            "nor is it tested"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_group_that_interrupts_ends_its_connections_when_it_leads_elsewhere() {
    let plan = GroupPlan {
        interrupts: true,
        ..GroupPlan::new("g", Policy::Selected)
    };
    let outbounds = ["a", "b"].map(|tag| Outbound::new(tag, "x"));
    let scene = Scene::new(plan, outbounds.into()).await;
    let mut stream = scene.connect().await.expect("a stream");
    let reading = tokio::spawn(async move { stream.read(&mut [0; 1]).await });
    scene.groups.select("g", "b").unwrap();
    let read = timeout(PATIENCE, reading).await.expect("an end").unwrap();
    let error = read.expect_err("it is ended");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionAborted);
    assert!(scene.connect().await.is_ok());
    assert_eq!(scene.dialed(), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_counted_with_the_groups_that_led_to_its_outbound() {
    let mut scene = Scene::with(LOWEST, &["a", "b"]).await;
    let connections = Connections::default();
    scene.dispatch = scene.dispatch.counting(connections.clone());
    scene.fails("a", Phase::Dial, Cause::Refused);
    let mut stream = scene.connect().await.expect("a stream");
    let open = connections.open();
    assert_eq!(open.len(), 1, "what was not opened is none");
    assert_eq!(open[0].chain, ["g", "b"]);
    assert_eq!(open[0].target(), Some(&target()));
    assert!(connections.close(&open[0].id()));
    assert!(stream.read(&mut [0; 1]).await.is_err());
    drop(stream);
    assert!(connections.open().is_empty());
}
