//! An open inbound: it accepts connections, owns them, and ends them. It must not know
//! what is spoken on one.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use socket2::TcpKeepalive;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tracing::debug;

use super::Upstream;
use super::listening::{Incoming, listen};
use super::options::Inbound;
use super::session::{self, Door};

/// An inbound cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("the inbound `{tag}` cannot listen on {address}: {source}")]
#[non_exhaustive]
pub struct ListenError {
    /// The inbound's tag.
    pub tag: String,
    /// Where it was to listen.
    pub address: SocketAddr,
    /// Why it cannot, in the system's words.
    pub source: io::Error,
}

/// An inbound that accepts connections. When dropped, it and all of its connections end
/// at once.
#[derive(Debug)]
pub struct Serving {
    tag: Arc<str>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    accepting: JoinHandle<()>,
}

impl Inbound {
    /// Listens, and hands every connection on to `upstream`. To be called within a tokio
    /// runtime, which does the work.
    ///
    /// # Errors
    /// When the address is taken or is none of this host.
    pub fn serve(self, upstream: Arc<dyn Upstream>) -> Result<Serving, ListenError> {
        let listener = listen(self.listen).map_err(|source| ListenError {
            tag: self.tag.to_string(),
            address: self.listen,
            source,
        });
        let (listener, address) = listener?;
        let (stop, stopped) = oneshot::channel();
        let tag = Arc::clone(&self.tag);
        let accepting = tokio::spawn(accept(listener, self, upstream, stopped));
        Ok(Serving {
            tag,
            address,
            stop: Some(stop),
            accepting,
        })
    }
}

impl Serving {
    /// The inbound's tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Where it listens; with the port that was chosen, if it was 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more connections, ends those that are open, and returns when nothing
    /// of them is left.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            // Whoever has ended needs no word.
            let _ = stop.send(());
        }
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accepts until told to stop, then ends what is open.
async fn accept(
    listener: TcpListener,
    inbound: Inbound,
    upstream: Arc<dyn Upstream>,
    mut stopped: oneshot::Receiver<()>,
) {
    let keep_alive = inbound.keep_alive.map(|keep_alive| {
        TcpKeepalive::new()
            .with_time(keep_alive.after)
            .with_interval(keep_alive.interval)
    });
    let name = format!("the inbound `{}`", inbound.tag);
    let door = Arc::new(Door::new(inbound, upstream));
    let mut incoming = Incoming::over(listener, name);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = &mut stopped => break,
            Some(_) = connections.join_next() => {}
            (stream, source) = incoming.next() => {
                if let Err(error) = prepare(&stream, keep_alive.as_ref()) {
                    debug!("a connection from {source} was gone at once: {error}");
                    continue;
                }
                connections.spawn(session::serve(Arc::clone(&door), stream, source));
            }
        }
    }
    drop(incoming);
    connections.shutdown().await;
}

fn prepare(stream: &TcpStream, keep_alive: Option<&TcpKeepalive>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match keep_alive {
        Some(keep_alive) => socket2::SockRef::from(stream).set_tcp_keepalive(keep_alive),
        None => Ok(()),
    }
}
