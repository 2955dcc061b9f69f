//! Ways for datagrams through a group.

use std::future::pending;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{sleep, timeout};

use super::{LOWEST, Scene, client, target};
use crate::group::{GroupPlan, Policy};
use crate::inbound::Upstream;
use crate::proxy_core::{Cause, Datagrams, FetchError, Network, Outbound, Phase, Target};
use crate::report::{Reason, State, View};
use crate::testing::PATIENCE;

/// A way that takes everything and brings nothing.
pub(super) struct Way {
    pub(super) end: Option<(Phase, Cause)>,
}

#[async_trait]
impl Datagrams for Way {
    async fn send(&self, _: &[u8], _: &Target) -> Result<(), FetchError> {
        Ok(())
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        match self.end {
            Some((phase, cause)) => Err(FetchError::new(phase, cause, "as the test says")),
            None => pending().await,
        }
    }
}

fn both(tag: &str) -> Outbound {
    Outbound {
        networks: vec![Network::Tcp, Network::Udp],
        ..Outbound::new(tag, "x")
    }
}

impl Scene {
    /// `a` carries streams alone; `b` and `c` carry datagrams too.
    async fn of_three(policy: Policy) -> Self {
        let outbounds = vec![Outbound::new("a", "x"), both("b"), both("c")];
        Self::new(GroupPlan::new("g", policy), outbounds).await
    }

    async fn associate(&self) -> Result<Box<dyn Datagrams>, FetchError> {
        self.dispatch.associate(&client()).await
    }
}

#[tokio::test(start_paused = true)]
async fn g5_datagrams_go_through_a_member_that_carries_them() {
    let scene = Scene::of_three(LOWEST).await;
    assert!(scene.connect().await.is_ok());
    assert!(scene.associate().await.is_ok());
    assert_eq!(scene.dialed(), ["a", "b"]);
    let none = vec![Outbound::new("a", "x")];
    let scene = Scene::new(GroupPlan::new("g", LOWEST), none).await;
    let error = scene.associate().await.err().expect("an error");
    assert_eq!(error.cause, Cause::Unsupported);
    assert!(error.text.contains("carries UDP"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn g1_datagrams_do_not_leave_by_a_member_that_nobody_chose() {
    let scene = Scene::of_three(Policy::Selected).await;
    let error = scene.associate().await.err().expect("an error");
    assert_eq!(error.cause, Cause::Unsupported);
    scene.groups.select("g", "c").unwrap();
    assert!(scene.associate().await.is_ok());
    assert_eq!(scene.dialed(), ["c"]);
}

#[tokio::test(start_paused = true)]
async fn g7_datagrams_go_through_another_member_when_one_cannot_be_opened() {
    let scene = Scene::of_three(LOWEST).await;
    scene.fails("b", Phase::Dial, Cause::Refused);
    assert!(scene.associate().await.is_ok());
    assert_eq!(scene.dialed(), ["b", "c"]);
    let failed = scene
        .report("b", |report| report.state == State::Failed)
        .await;
    assert_eq!(failed.reason, Some(Reason::ConnectionFailed), "E-1");
}

#[tokio::test(start_paused = true)]
async fn e8_a_server_without_datagrams_is_passed_over_and_not_tested() {
    let scene = Scene::of_three(LOWEST).await;
    scene.fails("b", Phase::Proxy, Cause::Unsupported);
    assert!(scene.associate().await.is_ok());
    assert_eq!(scene.dialed(), ["b", "c"]);
    sleep(Duration::from_secs(60)).await;
    let report = scene.monitor.report("b", View::Confirmed).await;
    assert_eq!(report.expect("a report").state, State::Ok);
}

#[tokio::test(start_paused = true)]
async fn e1_a_way_that_ends_before_an_answer_tests_its_member() {
    let scene = Scene::of_three(LOWEST).await;
    let end = (Phase::Proxy, Cause::Eof);
    scene.core.ends.lock().unwrap().insert("b".to_owned(), end);
    let way = scene.associate().await.expect("a way");
    scene.fails("b", end.0, end.1);
    way.send(b"x", &target()).await.unwrap();
    assert!(way.receive().await.is_err());
    let failed = scene
        .report("b", |report| report.state == State::Failed)
        .await;
    assert_eq!(failed.reason, Some(Reason::ConnectionFailed));
}

#[tokio::test(start_paused = true)]
async fn a_group_that_interrupts_ends_ways_for_datagrams_when_it_leads_elsewhere() {
    let plan = GroupPlan {
        interrupts: true,
        ..GroupPlan::new("g", Policy::Selected)
    };
    let scene = Scene::new(plan, vec![both("a"), both("b")]).await;
    let way = scene.associate().await.expect("a way");
    let receiving = tokio::spawn(async move { way.receive().await });
    scene.groups.select("g", "b").unwrap();
    let ended = timeout(PATIENCE, receiving).await.expect("an end").unwrap();
    let error = ended.expect_err("it is ended");
    assert!(error.text.contains("leads elsewhere"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn n1_every_datagram_is_activity() {
    let options = r#"{"ip_lookup": false, "interval": "10s", "idle_timeout": "1m"}"#;
    let plan = GroupPlan::new("g", LOWEST);
    let scene = Scene::with_options(plan, vec![both("a")], options).await;
    let way = scene.associate().await.expect("a way");
    sleep(Duration::from_secs(600)).await;
    let fetched = || scene.core.fetched.load(Ordering::Relaxed);
    let idle = fetched();
    sleep(Duration::from_secs(600)).await;
    assert_eq!(fetched(), idle, "nothing is tested while idle");
    way.send(b"x", &target()).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(fetched(), idle + 1, "a cycle at once");
}
