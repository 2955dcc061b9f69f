//! The server: it listens, speaks HTTP on each connection, and ends them. It must not know
//! what is asked for.

#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::events;
use super::source::Source;
use crate::group::Groups;
use crate::inbound::listening::{Incoming, listen};

/// How many connections may be open; others wait.
const CONNECTIONS: usize = 512;
/// How long a client may take over a request's head.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// The largest head of a request, and what is kept of an answer that is not taken.
const BUFFER: usize = 64 * 1024;
/// How long a client may take nothing of what it is sent. One that has gone without a word, or
/// takes nothing on purpose, gives its place back.
#[cfg(target_os = "linux")]
const DEAF_TIME: Duration = Duration::from_secs(120);
/// How long answers that are under way may still take at the end.
const GRACE: Duration = Duration::from_secs(2);

/// Nothing can be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Other hosts reach this address, and there is no secret.
    #[error("to serve on {address}, which other hosts reach, a secret is needed")]
    NeedsSecret {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// The address is taken, or none of this host.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where it was to listen.
        address: SocketAddr,
        /// Why it cannot, in the system's words.
        source: io::Error,
    },
}

/// A server that answers. When dropped, it and all of its connections end at once.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    told: Told,
    ending: CancellationToken,
    tasks: JoinHandle<()>,
}

/// What is told anew while it is served.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) groups: watch::Sender<Option<Groups>>,
    pub(super) final_tag: watch::Sender<Option<String>>,
}

impl Serving {
    /// Where it listens; with the port that was chosen, if it was 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells of these groups from now on, and has people choose in them.
    pub fn set_groups(&self, groups: Groups) {
        self.told.groups.send_replace(Some(groups));
    }

    /// Tells that connections go through this outbound or group from now on.
    pub fn set_final_tag(&self, tag: Option<String>) {
        self.told.final_tag.send_replace(tag);
    }

    /// Takes no more requests, ends every stream of events, gives answers that are under way
    /// two seconds, and returns when nothing is left.
    pub async fn stop(mut self) {
        self.ending.cancel();
        let _ = (&mut self.tasks).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.tasks.abort();
    }
}

/// Serves what `router` answers.
pub(super) fn serve(
    address: SocketAddr,
    router: Router,
    source: Arc<Source>,
    told: Told,
) -> Result<Serving, ServeError> {
    let listening = listen(address).map_err(|source| ServeError::Listen { address, source });
    let (listener, address) = listening?;
    let incoming = Incoming::over(listener, format!("the API on {address}"));
    let stop = CancellationToken::new();
    let serving = Serving {
        address,
        told,
        ending: stop.clone(),
        tasks: tokio::spawn(run(incoming, router, source, stop)),
    };
    Ok(serving)
}

/// Answers until told to stop, then ends what is open.
async fn run(incoming: Incoming, router: Router, source: Arc<Source>, stop: CancellationToken) {
    let mut watching = JoinSet::new();
    watching.spawn(events::keep(source.clone()));
    let mut connections = JoinSet::new();
    accept(incoming, router, CONNECTIONS, &stop, &mut connections).await;
    source.ending.cancel();
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, ended).await.is_err() {
        connections.shutdown().await;
    }
    watching.shutdown().await;
}

async fn accept(
    mut incoming: Incoming,
    router: Router,
    most: usize,
    stop: &CancellationToken,
    connections: &mut JoinSet<()>,
) {
    let room = Arc::new(Semaphore::new(most));
    loop {
        let (stream, client, place) = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            Some(_) = connections.join_next() => continue,
            accepted = async {
                let place = room.clone().acquire_owned().await;
                let (stream, client) = incoming.next().await;
                (stream, client, place)
            } => accepted,
        };
        let (router, stop) = (router.clone(), stop.clone());
        connections.spawn(async move {
            let _place = place;
            if let Err(error) = converse(stream, router, stop).await {
                debug!("a connection of the API from {client} broke off: {error}");
            }
        });
    }
}

/// Answers one connection's requests, one after the other.
async fn converse(stream: TcpStream, router: Router, stop: CancellationToken) -> hyper::Result<()> {
    // A small answer must not wait for more.
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(DEAF_TIME));
    let conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    let mut conversation = std::pin::pin!(conversation);
    tokio::select! {
        ended = &mut conversation => ended,
        () = stop.cancelled() => {
            conversation.as_mut().graceful_shutdown();
            conversation.await
        }
    }
}
