//! A relay that makes the way to a server slow. It must not know what it carries.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::local::Local;

/// Passes connections on to another port of 127.0.0.1.
#[derive(Debug)]
pub struct Relay(Local);

impl Relay {
    /// Passes a connection on only after `delay`.
    pub fn slow(to: u16, delay: Duration) -> Self {
        Self(Local::serve(move |mut stream| async move {
            sleep(delay).await;
            if let Ok(mut onward) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await {
                // Whoever closes first ends it; nobody asks why.
                let _ = copy_bidirectional(&mut stream, &mut onward).await;
            }
        }))
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.0.port()
    }
}
