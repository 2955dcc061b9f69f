//! The memory of the component in its runner with every outbound tested, its exit known
//! and its ring of measurements full; fails above the budget. It must not measure time.

use std::time::Duration;

use async_trait::async_trait;
use outwatch::{
    Dialed, FetchError, Monitor, Network, Outbound, ProxyCore, Readiness, Request, Response, Scope,
    State, Target, Timing, View,
};
use outwatch_benches::{BODY, mib};
use tokio::time::Instant;

/// The most that 10 000 outbounds may take.
const BUDGET: usize = 24 << 20;
/// As many measurements as are kept (R-7), and one more.
const CYCLES: u32 = 33;
const INTERVAL: Duration = Duration::from_secs(60);
const OPTIONS: &str = r#"{
    "interval": "60s", "idle_timeout": "365d", "workers": 1000,
    "ipinfo_url": "https://own.test/"
}"#;

/// So many outbounds, all of which answer at once.
struct Core(u32);

#[async_trait]
impl ProxyCore for Core {
    fn list(&self) -> Vec<Outbound> {
        (0..self.0)
            .map(|nth| Outbound {
                fingerprint: format!("server-{nth}.example.com:8388 aes-256-gcm"),
                ..Outbound::new(format!("outbound-{nth}"), "shadowsocks")
            })
            .collect()
    }

    fn selected(&self, _: &str, _: Network) -> Option<String> {
        None
    }

    fn status(&self, _: &str) -> Readiness {
        Readiness::Ready
    }

    async fn dial(&self, _: &str, _: &Target, _: Instant) -> Result<Dialed, FetchError> {
        unreachable!("it fetches by itself")
    }

    async fn fetch(&self, _: &str, request: &Request) -> Result<Response, FetchError> {
        let head = request.method == "HEAD";
        Ok(Response {
            status: if head { 204 } else { 200 },
            headers: Vec::new(),
            body: BODY.into(),
            timing: Timing {
                first_byte: Duration::from_millis(40),
                ..Timing::default()
            },
        })
    }
}

/// The component's memory after all cycles, with a subscriber of everything.
async fn memory(outbounds: u32) -> usize {
    let monitor = Monitor::builder(Core(outbounds)).options(OPTIONS);
    let monitor = monitor.start().await.expect("a monitor");
    let mut updates = monitor.subscribe(Scope::All, View::Display);
    tokio::spawn(async move { while updates.next().await.is_some() {} });
    tokio::time::sleep(INTERVAL * CYCLES).await;
    let reports = monitor.reports(View::Confirmed).await;
    let is_full = |report: &outwatch::Report| {
        report.state == State::Ok && report.ip.is_some() && report.stats.count == 32
    };
    assert_eq!(reports.len(), outbounds as usize);
    assert!(reports.iter().all(is_full), "every ring is full");
    monitor.memory()
}

#[allow(clippy::print_stdout, reason = "it is what a bench is for")]
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("| outbounds | component | bytes each |");
    println!("| --- | --- | --- |");
    for outbounds in [100_000, 1, 10_000_u32] {
        let used = memory(outbounds).await;
        assert!(outbounds > 10_000 || used < BUDGET, "{used} bytes are used");
        let each = used / outbounds as usize;
        println!("| {outbounds} | {:.1} MiB | {each} |", mib(used));
    }
}
