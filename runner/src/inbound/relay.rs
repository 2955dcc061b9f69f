//! Passes bytes both ways between a client and its upstream. It must not know what they
//! mean.

#[cfg(target_os = "linux")]
mod splice;

use std::io;

use tokio::io::{AsyncWriteExt, copy_bidirectional_with_sizes};

#[cfg(target_os = "linux")]
use super::connections::{counted::bare, meter::Meter};
use super::session::ClientStream;
use crate::proxy_core::Io;

/// How much each direction may hold: one record of TLS, which is what an upstream that is
/// more than a socket gives at once.
const BUFFER: usize = 16 * 1024;

/// Relays until both sides have said all, or one fails; then both are closed. A side
/// that has said all may still listen. What was read ahead of the client goes first.
pub(super) async fn relay(client: ClientStream, mut upstream: Box<dyn Io>) -> io::Result<()> {
    if !client.buffer().is_empty() {
        upstream.write_all(client.buffer()).await?;
        upstream.flush().await?;
    }
    let mut client = client.into_inner();
    #[cfg(target_os = "linux")]
    if let Some((socket, meter)) = bare(&*upstream) {
        let uncounted = Meter::default();
        let meter = meter.unwrap_or(&uncounted);
        return tokio::select! {
            relayed = splice::relay(&client, socket, meter) => relayed,
            closed = meter.closed() => Err(io::Error::other(closed)),
        };
    }
    copy_bidirectional_with_sizes(&mut client, &mut upstream, BUFFER, BUFFER)
        .await
        .map(drop)
}
