//! The memory of a process that holds so many monitors: this bench, started again with their
//! number. It must not know what a monitor holds.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;
use std::{env, fs};

use async_trait::async_trait;
use outwatch::{
    CodeCache, Dialed, FetchError, Monitor, Network, Outbound, ProxyCore, Request, Response, State,
    Target, Timing, View,
};
use tokio::time::{Instant, sleep};

/// Of each monitor's core.
pub(crate) const OUTBOUNDS: usize = 20;

/// Says to the bench that it is the process to be measured.
const MONITORS: &str = "OUTWATCH_BENCH_MONITORS";
const FOLDER: &str = "OUTWATCH_BENCH_CODE";

/// MiB that a process of so many monitors has, once all is tested.
pub(crate) fn held_by(count: u32, code: &Path) -> f64 {
    let bench = env::current_exe().expect("the bench's own path");
    let output = Command::new(bench)
        .env(MONITORS, count.to_string())
        .env(FOLDER, code)
        .output()
        .expect("a second process");
    let said = String::from_utf8_lossy(&output.stdout);
    let held = said.trim().parse();
    held.unwrap_or_else(|_| panic!("{output:?}"))
}

/// Does what the process before asks for; none if there was none.
pub(crate) fn asked() -> Option<ExitCode> {
    let count: usize = env::var(MONITORS).ok()?.parse().ok()?;
    let folder = env::var_os(FOLDER)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(hold(count, Path::new(&folder)));
    Some(ExitCode::SUCCESS)
}

async fn hold(count: usize, folder: &Path) {
    let component = CodeCache::in_folder(folder).embedded().expect("code");
    let mut monitors = Vec::new();
    for _ in 0..count {
        let builder = Monitor::builder(Core).component(component.clone());
        let builder = builder.options(r#"{"ip_lookup":false}"#);
        monitors.push(builder.start().await.expect("a monitor"));
    }
    for monitor in &monitors {
        while !all_tested(monitor).await {
            sleep(Duration::from_millis(10)).await;
        }
    }
    println!("{}", resident());
}

async fn all_tested(monitor: &Monitor) -> bool {
    let reports = monitor.reports(View::Confirmed).await;
    reports.len() == OUTBOUNDS && reports.iter().all(|report| report.state == State::Ok)
}

/// MiB that this process has in memory.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("a Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    number.expect("a number") / 1024.0
}

/// Outbounds that all answer at once.
struct Core;

#[async_trait]
impl ProxyCore for Core {
    fn list(&self) -> Vec<Outbound> {
        let outbound = |nth| Outbound::new(format!("outbound-{nth}"), "shadowsocks");
        (0..OUTBOUNDS).map(outbound).collect()
    }

    fn selected(&self, _: &str, _: Network) -> Option<String> {
        None
    }

    async fn dial(&self, _: &str, _: &Target, _: Instant) -> Result<Dialed, FetchError> {
        unreachable!("it fetches by itself")
    }

    async fn fetch(&self, _: &str, _: &Request) -> Result<Response, FetchError> {
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
