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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// What `sent` is to a reader of reads of at most 8 bytes, and how they end.
    async fn reads(sent: &'static [u8]) -> (Vec<Vec<u8>>, io::Result<usize>) {
        // Three bytes arrive at a time.
        let (near, mut far) = duplex(3);
        let writing = tokio::spawn(async move { far.write_all(sent).await });
        let mut stream = WholeHead::new(Box::new(near), 10);
        let mut reads = Vec::new();
        let end = loop {
            let mut read = vec![0; 8];
            match stream.read(&mut read).await {
                Ok(length @ 1..) => {
                    read.truncate(length);
                    reads.push(read);
                }
                end => break end,
            }
        };
        writing.await.unwrap().unwrap();
        (reads, end)
    }

    #[tokio::test]
    async fn a_head_that_arrives_in_pieces_is_read_as_far_as_there_is_room() {
        let (reads, end) = reads(b"0123456789abcd").await;
        assert_eq!(reads[..2], [&b"01234567"[..], b"89"]);
        assert_eq!(reads[2..].concat(), b"abcd");
        assert_eq!(end.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_head_that_is_cut_is_an_unexpected_end_and_none_at_all_an_end() {
        let (cut, end) = reads(b"012345678").await;
        assert_eq!(cut, [b""; 0]);
        assert_eq!(end.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let (none, end) = reads(b"").await;
        assert_eq!((none.len(), end.unwrap()), (0, 0));
    }
}
