//! Streams and ways for datagrams that count what they carry and end on request. It must
//! not know who asks.

#[cfg(target_os = "linux")]
use std::any::Any;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
#[cfg(target_os = "linux")]
use tokio::net::TcpStream;

use super::Entry;
use super::meter::{Meter, aborted, count};
use crate::proxy_core::{Datagrams, FetchError, Io, Target};

/// The bare socket that a stream is, and the meter of its connection if it has one: who
/// relays it counts by that, and ends by it.
#[cfg(target_os = "linux")]
pub(in crate::inbound) fn bare(stream: &dyn Io) -> Option<(&TcpStream, Option<&Meter>)> {
    let any: &dyn Any = stream;
    match any.downcast_ref::<CountedStream>() {
        Some(counted) => {
            let inner: &dyn Any = &*counted.stream;
            let socket = inner.downcast_ref()?;
            Some((socket, Some(counted.meter())))
        }
        None => Some((any.downcast_ref()?, None)),
    }
}

/// A stream that counts what is written as up and what is read as down.
pub(super) struct CountedStream {
    stream: Box<dyn Io>,
    entry: Entry,
}

impl CountedStream {
    pub(super) fn new(stream: Box<dyn Io>, entry: Entry) -> Self {
        Self { stream, entry }
    }

    fn meter(&self) -> &Meter {
        &self.entry.connection.meter
    }
}

impl AsyncRead for CountedStream {
    /// Also has a reader that waits woken by the end.
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(closed) = self.meter().poll_closed(context) {
            return Poll::Ready(Err(aborted(closed)));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        count(&self.meter().down, buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        count(&self.meter().up, written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// A way for datagrams that counts them.
pub(super) struct CountedDatagrams {
    way: Box<dyn Datagrams>,
    entry: Entry,
}

impl CountedDatagrams {
    pub(super) fn new(way: Box<dyn Datagrams>, entry: Entry) -> Self {
        Self { way, entry }
    }
}

#[async_trait]
impl Datagrams for CountedDatagrams {
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        let connection = &self.entry.connection;
        connection.target.get_or_init(|| target.clone());
        self.way.send(payload, target).await?;
        count(&connection.meter.up, payload.len());
        Ok(())
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        let meter = &self.entry.connection.meter;
        let received = tokio::select! {
            received = self.way.receive() => received?,
            closed = meter.closed() => return Err(closed),
        };
        count(&meter.down, received.0.len());
        Ok(received)
    }
}
