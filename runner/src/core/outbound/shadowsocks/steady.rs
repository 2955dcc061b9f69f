//! A writer that may be offered more while a write is pending, as copy loops and HTTP
//! do: the crate would say that it took all of what it is offered last. It must not know
//! what is written.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The stream, and how much of a buffer its pending write is about.
pub(super) struct Steady<S> {
    stream: S,
    pending: Option<usize>,
}

impl<S> Steady<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            pending: None,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Steady<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let length = this.pending.take().unwrap_or(buf.len()).min(buf.len());
        let (now, _) = buf.split_at(length);
        let written = Pin::new(&mut this.stream).poll_write(cx, now);
        if written.is_pending() {
            this.pending = Some(length);
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Steady<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::SocketAddr;

    use shadowsocks::ProxyClientStream;
    use shadowsocks::config::{ServerConfig, ServerType};
    use shadowsocks::context::Context as Shared;
    use shadowsocks::crypto::CipherKind;
    use shadowsocks::relay::tcprelay::proxy_stream::server::ProxyServerStream;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const METHOD: CipherKind = CipherKind::AES_128_GCM;

    #[tokio::test]
    async fn all_that_is_written_arrives_though_more_is_offered_while_a_write_is_pending() {
        let sent: Vec<u8> = (0..20_000_u32).flat_map(u32::to_be_bytes).collect();
        let nowhere = SocketAddr::from(([192, 0, 2, 1], 1));
        let config = ServerConfig::new(nowhere, "secret", METHOD).unwrap();
        let (near, far) = duplex(64);
        let context = Shared::new_shared(ServerType::Server);
        let far = ProxyServerStream::from_stream(context, far, METHOD, config.key());
        let expected = sent.clone();
        let reading = tokio::spawn(async move {
            let mut far = far;
            far.handshake().await.unwrap();
            let mut read = vec![0; expected.len()];
            far.read_exact(&mut read).await.unwrap();
            assert!(read == expected);
        });

        let context = Shared::new_shared(ServerType::Local);
        let near = ProxyClientStream::from_stream(context, near, &config, nowhere);
        let mut near = Steady::new(near);
        assert_eq!(near.write(&[]).await.unwrap(), 0);
        let mut done = 0;
        while done < sent.len() {
            let mut offered = 100;
            done += poll_fn(|cx| {
                let end = sent.len().min(done + offered);
                offered += 100;
                Pin::new(&mut near).poll_write(cx, &sent[done..end])
            })
            .await
            .unwrap();
        }
        near.flush().await.unwrap();
        drop(near);
        reading.await.unwrap();
    }
}
