//! Passes bytes both ways between a client and its upstream. It must not know what they
//! mean.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional_with_sizes};

/// How much each direction may hold.
const BUFFER: usize = 32 * 1024;

/// Relays until both sides have said all, or one fails; then both are closed. A side
/// that has said all may still listen.
///
/// Returns how many bytes went up and down.
pub(super) async fn relay<A, B>(client: &mut A, upstream: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    copy_bidirectional_with_sizes(client, upstream, BUFFER, BUFFER).await
}
