//! The real network of this host. What needs rights that a test may not have is left
//! out there, and said.

use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::time::timeout;

/// A bound for a notice of the system.
const PATIENCE: Duration = Duration::from_secs(30);

/// A network interface that leads nowhere, gone when dropped.
struct Dummy(String);

impl Dummy {
    /// None where this process may not make one.
    fn new() -> Option<Self> {
        let name = format!("ow{}", std::process::id());
        ip(&["link", "add", &name, "type", "dummy"]).then(|| Self(name))
    }

    fn ip(&self, arguments: &[&str]) {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["dev", &self.0]).collect();
        assert!(ip(&arguments), "ip {arguments:?}");
    }
}

impl Drop for Dummy {
    fn drop(&mut self) {
        ip(&["link", "del", &self.0]);
    }
}

fn ip(arguments: &[&str]) -> bool {
    let ran = Command::new("ip")
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ran.is_ok_and(|status| status.success())
}

#[tokio::test(flavor = "multi_thread")]
async fn e4_an_address_that_comes_and_goes_is_two_changes_and_a_link_alone_is_none() {
    let mut changes = outwatch::network::watch().expect("a host that may be watched");
    let Some(dummy) = Dummy::new() else {
        eprintln!("SKIPPED: this process may not make network interfaces, so none was changed");
        return;
    };
    dummy.ip(&["link", "set", "up"]);
    let noise = timeout(Duration::from_secs(2), changes.next()).await;
    assert!(noise.is_err(), "a link without an address changes nothing");
    for verb in ["add", "del"] {
        dummy.ip(&["addr", verb, "198.18.213.1/32"]);
        let told = timeout(PATIENCE, changes.next()).await;
        assert!(told.is_ok(), "addr {verb}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_where_nothing_happens_is_watched_in_silence() {
    let mut changes = outwatch::network::watch().expect("a host that may be watched");
    let told = timeout(Duration::from_millis(300), changes.next()).await;
    assert!(told.is_err());
}
