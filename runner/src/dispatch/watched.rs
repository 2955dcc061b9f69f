//! Streams whose proxy says only after the dial what it thinks of a password: the monitor
//! hears of those that fail before an answer. It must not know the proxy.

use std::any::Any;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::reporter::Reporter;
use crate::fetch::inner;
use crate::group::Pick;
use crate::proxy_core::{FetchError, Io};

/// The stream through what was picked, watched until its first answer. A bare socket is left
/// as it is: it says nothing of a proxy, and is relayed at less cost.
pub(super) fn watched(stream: Box<dyn Io>, pick: Pick, reporter: &Reporter) -> Box<dyn Io> {
    let any: &dyn Any = &*stream;
    if any.is::<TcpStream>() {
        return stream;
    }
    let unanswered = Some((pick, reporter.clone()));
    Box::new(Watched { stream, unanswered })
}

struct Watched {
    stream: Box<dyn Io>,
    /// Whom to tell what; none once there was an answer, or it was told.
    unanswered: Option<(Pick, Reporter)>,
}

impl Watched {
    fn failed(&mut self, error: &io::Error) {
        let error = inner::<FetchError>(error);
        if let (Some((pick, reporter)), Some(error)) = (self.unanswered.take(), error) {
            reporter.failed(&pick, error);
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        match &read {
            Ok(()) => self.unanswered = None,
            Err(error) => self.failed(error),
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        if let Err(error) = &written {
            self.failed(error);
        }
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
