//! Asks the system what the network looks like, and waits for its notices. It must not
//! judge whether a notice is a change.
//!
//! `netwatcher` is the smallest crate that waits on Linux, macOS, the BSDs and Windows
//! alike: it needs `nix` or `windows` alone, where its peers bring a netlink stack.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use async_trait::async_trait;
use netwatcher::AsyncWatch;
use netwatcher::async_adapter::Tokio;

use super::look::Look;

/// The system does not let this process watch its network.
#[derive(Debug, thiserror::Error)]
#[error("the host's network cannot be watched: {0}")]
pub struct WatchError(String);

/// Something that knows a network.
#[async_trait]
pub(super) trait Source: Send {
    /// Waits for a notice that something may have changed. Dropping the future loses no
    /// notice.
    async fn notice(&mut self);

    /// What the network looks like now; none if it cannot be seen.
    fn look(&mut self) -> Option<Look>;
}

/// This host.
pub(super) struct Host(AsyncWatch);

impl Host {
    /// Begins to wait for notices; and what the network looks like now.
    pub(super) fn open() -> Result<(Self, Look), WatchError> {
        let watch = netwatcher::watch_interfaces_async::<Tokio>();
        let watch = watch.map_err(|error| WatchError(error.to_string()))?;
        Ok((Self(watch), look().unwrap_or_default()))
    }
}

#[async_trait]
impl Source for Host {
    async fn notice(&mut self) {
        self.0.changed().await;
    }

    fn look(&mut self) -> Option<Look> {
        look()
    }
}

fn look() -> Option<Look> {
    let mut look = Look::default();
    for interface in netwatcher::list_interfaces().ok()?.values() {
        for record in &interface.ips {
            look.address(&interface.name, record.ip);
        }
    }
    for ip in [default_v4(), default_v6()].into_iter().flatten() {
        look.default_from(ip);
    }
    Some(look)
}

/// The address that a packet to an address of the internet would leave from: the
/// system says it when a socket is connected, which sends nothing.
fn default_v4() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // Of the range for documentation, but not told apart by any route.
    socket.connect((Ipv4Addr::new(198, 51, 100, 1), 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

fn default_v6() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).ok()?;
    let documentation = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    socket.connect((documentation, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}
