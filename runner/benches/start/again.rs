//! A process that loads the component and holds so many monitors: this bench, started again
//! with their number. It must not know what a monitor holds.

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

/// What such a process took.
#[derive(Debug)]
pub(crate) struct Took {
    /// Milliseconds until the component was ready to run.
    pub(crate) load: f64,
    /// MiB in memory, once all is tested.
    pub(crate) held: f64,
}

/// Starts a process of so many monitors, with compiled code in this folder or not.
pub(crate) fn with(count: u32, code: &Path) -> Took {
    let bench = env::current_exe().expect("the bench's own path");
    let output = Command::new(bench)
        .env(MONITORS, count.to_string())
        .env(FOLDER, code)
        .output()
        .expect("a second process");
    let said = String::from_utf8_lossy(&output.stdout);
    let mut figures = said.split_whitespace().map(str::parse);
    match (figures.next(), figures.next()) {
        (Some(Ok(load)), Some(Ok(held))) => Took { load, held },
        _ => panic!("{output:?}"),
    }
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
    let since = Instant::now();
    let component = CodeCache::in_folder(folder).embedded().expect("code");
    let load = since.elapsed();
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
    println!("{} {}", load.as_secs_f64() * 1e3, resident());
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
