//! Servers on 127.0.0.1 that are dialed through a core. They must not know which one.

use std::net::{Ipv4Addr, SocketAddr};

use futures::future::{BoxFuture, FutureExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::proxy_core::{Host, Target};

/// Ends, with all its connections, when dropped.
pub(super) struct Server {
    port: u16,
    accepting: JoinHandle<()>,
    ended: mpsc::UnboundedReceiver<()>,
}

impl Server {
    /// Sends back what it receives.
    pub(super) async fn echo() -> std::io::Result<Self> {
        Self::serve(|mut stream| {
            async move {
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                    let Some(bytes) = buffer.get(..count) else {
                        return;
                    };
                    if stream.write_all(bytes).await.is_err() {
                        return;
                    }
                }
            }
            .boxed()
        })
        .await
    }

    /// Takes connections and never says a word.
    pub(super) async fn silent() -> std::io::Result<Self> {
        Self::serve(|mut stream| {
            async move {
                let mut ignored = [0; 4096];
                while matches!(stream.read(&mut ignored).await, Ok(1..)) {}
            }
            .boxed()
        })
        .await
    }

    /// Answers each HTTP request with `answer`.
    pub(super) async fn http(answer: String) -> std::io::Result<Self> {
        Self::serve(move |mut stream| {
            let answer = answer.clone();
            async move {
                let mut head = Vec::new();
                while let Ok(byte) = stream.read_u8().await {
                    head.push(byte);
                    if head.ends_with(b"\r\n\r\n") {
                        head.clear();
                        // A reader who has enough closes.
                        let _ = stream.write_all(answer.as_bytes()).await;
                    }
                }
            }
            .boxed()
        })
        .await
    }

    /// What to dial.
    pub(super) fn target(&self) -> Target {
        Target {
            host: Host::Ip(Ipv4Addr::LOCALHOST.into()),
            port: self.port,
            family: None,
        }
    }

    /// What to fetch.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/conformance", self.port)
    }

    /// Waits until one more connection has ended.
    pub(super) async fn connection_ended(&mut self) {
        // The server holds a sender.
        let _ = self.ended.recv().await;
    }

    async fn serve(
        each: impl Fn(TcpStream) -> BoxFuture<'static, ()> + Send + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let port = listener.local_addr()?.port();
        let (sender, ended) = mpsc::unbounded_channel();
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (served, sender) = (each(stream), sender.clone());
                connections.spawn(async move {
                    served.await;
                    // Nobody may be counting.
                    let _ = sender.send(());
                });
            }
        });
        Ok(Self {
            port,
            accepting,
            ended,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// A server of datagrams; ends when dropped.
pub(super) struct DatagramServer {
    address: SocketAddr,
    answering: JoinHandle<()>,
}

impl DatagramServer {
    /// Sends back what it receives.
    pub(super) async fn echo() -> std::io::Result<Self> {
        let socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let address = socket.local_addr()?;
        let answering = tokio::spawn(async move {
            let mut buffer = [0; 2048];
            loop {
                // A visitor that is gone is no error of the next.
                if let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    let _ = socket.send_to(bytes, from).await;
                }
            }
        });
        Ok(Self { address, answering })
    }

    /// What to send to.
    pub(super) fn target(&self) -> Target {
        self.address.into()
    }
}

impl Drop for DatagramServer {
    fn drop(&mut self) {
        self.answering.abort();
    }
}
