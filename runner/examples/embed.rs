//! A monitor over a core of your own, in one file.
#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use async_trait::async_trait;
use outwatch::{
    Cause, Dialed, FetchError, Monitor, Network, Outbound, Phase, ProxyCore, Scope, Target, View,
};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

/// A core with one outbound, which dials straight.
struct MyCore;

#[async_trait]
impl ProxyCore for MyCore {
    fn list(&self) -> Vec<Outbound> {
        vec![Outbound::new("straight", "direct")]
    }

    fn selected(&self, _group: &str, _network: Network) -> Option<String> {
        None
    }

    async fn dial(&self, _: &str, to: &Target, deadline: Instant) -> Result<Dialed, FetchError> {
        let failed = |cause, text| FetchError::new(Phase::Dial, cause, text);
        let stream = timeout_at(deadline, TcpStream::connect(to.to_string()))
            .await
            .map_err(|_| failed(Cause::DialTimeout, format!("no answer from {to}")))?
            .map_err(|error| failed(Cause::Refused, error.to_string()))?;
        let stream = Box::new(stream);
        Ok(Dialed { stream, dns: None })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The text of a config's `experimental.monitoring` block.
    let options = std::env::args().nth(1).unwrap_or_default();
    let monitor = Monitor::builder(MyCore).options(options).start().await?;
    let mut updates = monitor.subscribe(Scope::All, View::Display);

    let report = monitor.test("straight").await?;
    println!("tested: {}", serde_json::to_string(&report)?);

    while let Some(update) = updates.next().await {
        for report in &update.reports {
            println!("update: {}", serde_json::to_string(report)?);
        }
        if update.reports.iter().any(|report| report.ip.is_some()) {
            break;
        }
    }
    monitor.stop().await?;
    Ok(())
}
