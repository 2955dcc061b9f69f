//! Engines of two contracts in one host.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use crate::engine::Component;
use crate::monitor::Monitor;
use crate::proxy_core::{
    Cause, Dialed, FetchError, Network, Outbound, Phase, ProxyCore, Readiness, Request, Response,
    Target, Timing,
};
use crate::report::{Scope, State, View};

static CHANGED: &[u8] = include_bytes!("../../../../tests/engines/contract-0.2.wasm");

/// A core with one outbound, which answers after 10 ms.
struct One;

#[async_trait]
impl ProxyCore for One {
    fn list(&self) -> Vec<Outbound> {
        vec![Outbound::new("a", "stub")]
    }

    fn selected(&self, _: &str, _: Network) -> Option<String> {
        None
    }

    fn status(&self, _: &str) -> Readiness {
        Readiness::Ready
    }

    async fn dial(&self, _: &str, _: &Target, _: Instant) -> Result<Dialed, FetchError> {
        Err(FetchError::new(
            Phase::Dial,
            Cause::Unsupported,
            "it dials nothing",
        ))
    }

    async fn fetch(&self, _: &str, _: &Request) -> Result<Response, FetchError> {
        let time = Duration::from_millis(10);
        tokio::time::sleep(time).await;
        Ok(Response {
            status: 204,
            headers: Vec::new(),
            body: Vec::new(),
            timing: Timing {
                dial: time,
                first_byte: time,
                total: time,
                ..Timing::default()
            },
        })
    }
}

fn changed() -> Component {
    Component::from_bytes(CHANGED).expect("an engine")
}

async fn start(component: Component) -> Monitor {
    let builder = Monitor::builder(One).component(component);
    builder
        .options(r#"{"ip_lookup": false}"#)
        .start()
        .await
        .expect("a monitor")
}

#[tokio::test(start_paused = true)]
async fn engines_of_two_contracts_run_beside_each_other_each_through_its_own_bindings() {
    let this = start(Component::embedded().expect("an engine")).await;
    let later = start(changed()).await;
    for (monitor, type_name) in [(&this, "stub"), (&later, "0.2")] {
        let report = monitor.test("a").await.expect("a report");
        assert_eq!((report.state, report.delay_ms), (State::Ok, Some(10)));
        assert_eq!(report.type_name, type_name);
        monitor.stop().await.expect("an end");
    }
}

#[tokio::test(start_paused = true)]
async fn an_engine_of_one_contract_takes_the_place_of_one_of_the_other() {
    let monitor = start(Component::embedded().expect("an engine")).await;
    let mut updates = monitor.subscribe(Scope::All, View::Confirmed);
    let before = monitor.test("a").await.expect("a report");
    monitor.replace_component(changed()).await.expect("another");
    let after = monitor.test("a").await.expect("a report");
    assert_eq!(after.type_name, "0.2");
    assert!(after.revision > before.revision);
    let embedded = Component::embedded().expect("an engine");
    monitor.replace_component(embedded).await.expect("another");
    let back = monitor.test("a").await.expect("a report");
    assert_eq!(back.type_name, "stub");
    assert!(back.revision > after.revision);
    monitor.stop().await.expect("an end");
    let mut revisions = Vec::new();
    while let Some(update) = updates.next().await {
        revisions.extend(update.reports.into_iter().map(|report| report.revision));
    }
    assert!(revisions.is_sorted_by(|a, b| a < b), "{revisions:?}");
}
