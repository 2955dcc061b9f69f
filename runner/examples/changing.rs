//! A core whose outbounds come and go, as with a subscription that is fetched anew. It says
//! so by one call; results of what stays are kept.
#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use outwatch::{
    Cause, Dialed, FetchError, Monitor, Network, Outbound, Phase, ProxyCore, Scope, Target, View,
};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

/// All its outbounds dial straight; which ones there are is changed at any time.
#[derive(Default)]
struct ChangingCore(RwLock<Vec<Outbound>>);

impl ChangingCore {
    fn set(&self, tags: &[&str]) {
        let outbounds = tags.iter().map(|&tag| Outbound::new(tag, "direct"));
        *self.0.write().expect("no writer panics") = outbounds.collect();
    }
}

#[async_trait]
impl ProxyCore for ChangingCore {
    fn list(&self) -> Vec<Outbound> {
        self.0.read().expect("no writer panics").clone()
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
    let options = std::env::args().nth(1).unwrap_or_default();
    // The app keeps the core, and the monitor gets another handle of it.
    let core = Arc::new(ChangingCore::default());
    core.set(&["berlin", "tokyo"]);
    let builder = Monitor::builder(core.clone()).options(options);
    let monitor = builder.start().await?;
    monitor.test("berlin").await?;
    monitor.test("tokyo").await?;
    let mut updates = monitor.subscribe(Scope::All, View::Confirmed);

    core.set(&["tokyo", "oslo"]);
    monitor.outbounds_changed();

    let (mut gone, mut new) = (false, false);
    while let Some(update) = updates.next().await {
        for report in &update.reports {
            println!("{} is {}", report.tag, report.state);
            new |= report.tag == "oslo" && report.delay_ms.is_some();
        }
        for tag in &update.removed {
            println!("{tag} is gone");
            gone |= tag == "berlin";
        }
        if gone && new {
            break;
        }
    }
    monitor.stop().await?;
    Ok(())
}
