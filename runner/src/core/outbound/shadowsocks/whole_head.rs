//! A stream whose first bytes are read in one piece, however they arrive: the crate
//! takes the head of a 2022 answer from a single read, and a detour may cut it. It must
//! not know what the bytes are.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::core::way::Stream;

/// The stream, and what of its head has come and is not read yet.
pub(super) struct WholeHead {
    stream: Stream,
    /// Room for all of the head; empty once it was read.
    head: Box<[u8]>,
    come: usize,
}

impl WholeHead {
    /// `stream`, whose first `length` bytes belong together.
    pub(super) fn new(stream: Stream, length: usize) -> Self {
        Self {
            stream,
            head: vec![0; length].into(),
            come: 0,
        }
    }
}

impl AsyncRead for WholeHead {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.come < this.head.len() {
            let mut head = ReadBuf::new(&mut this.head);
            head.advance(this.come);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut head))?;
            let come = head.filled().len();
            if come == this.come {
                return Poll::Ready(match come {
                    0 => Ok(()),
                    _ => Err(io::ErrorKind::UnexpectedEof.into()),
                });
            }
            this.come = come;
        }
        if this.head.is_empty() {
            return Pin::new(&mut this.stream).poll_read(cx, buf);
        }
        let (now, later) = this.head.split_at(this.head.len().min(buf.remaining()));
        buf.put_slice(now);
        this.head = later.into();
        this.come = this.head.len();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WholeHead {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
