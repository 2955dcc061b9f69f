//! Streams that end when their group leads elsewhere (`interrupt_exist_connections`).
//! It must not know groups.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::proxy_core::{Cause, FetchError, Io, Phase};

/// The stream, ended with an error once one of these is cancelled.
pub(super) fn ending_with(stream: Box<dyn Io>, cuts: Vec<CancellationToken>) -> Box<dyn Io> {
    if cuts.is_empty() {
        return stream;
    }
    let cuts = cuts.into_iter();
    let cuts = cuts.map(|cut| Box::pin(cut.cancelled_owned())).collect();
    Box::new(Ending { stream, cuts })
}

/// What whoever uses it is told.
pub(super) fn error() -> FetchError {
    FetchError::new(Phase::Dial, Cause::Reset, "its group leads elsewhere now")
}

struct Ending {
    stream: Box<dyn Io>,
    cuts: Vec<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl Ending {
    /// Also has a reader that waits woken by a cut.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let mut cuts = self.cuts.iter_mut();
        if cuts.any(|cut| cut.as_mut().poll(context).is_ready()) {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, error()));
        }
        Ok(())
    }
}

impl AsyncRead for Ending {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Ending {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
