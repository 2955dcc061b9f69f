//! What is known of sing-box at this moment, for those who dial and those who ask. It
//! must not know who keeps it running.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::control::Control;
use super::journal::Journal;
use super::outbounds::Outbounds;
use super::selections::Selections;
use crate::fetch::Trust;

/// Shared by the core and the task that keeps sing-box running.
pub(super) struct Shared {
    pub(super) now: watch::Sender<Arc<Now>>,
    pub(super) selections: Selections,
    /// Selections made, and how many of them sing-box has heard of.
    made: AtomicU64,
    heard: watch::Sender<u64>,
}

/// One moment.
pub(super) struct Now {
    pub(super) outbounds: Arc<Outbounds>,
    /// Whom to trust in what is fetched through any outbound.
    pub(super) trust: Trust,
    pub(super) state: State,
}

#[derive(Clone)]
pub(super) enum State {
    Up(Arc<Live>),
    /// Why not, and what is done about it.
    Down(String),
    /// For good.
    Stopped,
}

/// SOCKS 5, with a password (RFC 1928).
const GREETING: [u8; 3] = [5, 1, 2];

/// It is on this machine; what takes longer hangs.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// What is said of one that was stopped.
pub(super) const STOPPED: &str = "sing-box was stopped";

/// A sing-box that is up.
pub(super) struct Live {
    pub(super) id: Option<u32>,
    pub(super) socks: SocketAddr,
    pub(super) password: String,
    pub(super) control: Option<Control>,
    pub(super) journal: Arc<Journal>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("id", &self.id)
            .field("socks", &self.socks)
            .finish_non_exhaustive()
    }
}

impl Live {
    /// Whether it still answers. Known sooner than its end. That a connection opens says
    /// nothing: the system opens some more for a process that is being killed.
    pub(super) async fn is_there(&self) -> bool {
        let greeting = async {
            let mut stream = TcpStream::connect(self.socks).await?;
            stream.write_all(&GREETING).await?;
            stream.read_exact(&mut [0; 2]).await
        };
        matches!(timeout(ANSWERS_WITHIN, greeting).await, Ok(Ok(_)))
    }
}

impl Shared {
    pub(super) fn new(now: Now, selections: Selections) -> Self {
        Self {
            now: watch::Sender::new(Arc::new(now)),
            selections,
            made: AtomicU64::new(0),
            heard: watch::Sender::new(0),
        }
    }

    pub(super) fn now(&self) -> Arc<Now> {
        self.now.borrow().clone()
    }

    /// The sing-box that is up now.
    pub(super) fn live(&self) -> Option<Arc<Live>> {
        match &self.now().state {
            State::Up(live) => Some(live.clone()),
            State::Down(_) | State::Stopped => None,
        }
    }

    /// The moment when sing-box is up, another one than `last`; at the deadline, why it
    /// is not.
    pub(super) async fn up(
        &self,
        last: Option<&Arc<Live>>,
        deadline: Instant,
    ) -> Result<(Arc<Now>, Arc<Live>), String> {
        let mut moments = self.now.subscribe();
        loop {
            let now = moments.borrow_and_update().clone();
            let why = match &now.state {
                State::Up(live) if last.is_none_or(|last| !Arc::ptr_eq(last, live)) => {
                    return Ok((now.clone(), live.clone()));
                }
                State::Up(_) => "sing-box takes no connections any more",
                State::Down(why) => why,
                State::Stopped => return Err(STOPPED.to_owned()),
            };
            if timeout_at(deadline, moments.changed()).await.is_err() {
                return Err(why.to_owned());
            }
        }
    }

    /// One more selection was made; gives its number.
    pub(super) fn count_selection(&self) -> u64 {
        self.made.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// sing-box leads groups as the selection of this number says, and all before it.
    pub(super) fn selection_heard(&self, number: u64) {
        self.heard.send_if_modified(|heard| {
            let news = number > *heard;
            *heard = number.max(*heard);
            news
        });
    }

    /// Waits until sing-box has heard of every selection made so far, but no longer than
    /// until the deadline.
    pub(super) async fn selections_heard(&self, deadline: Instant) {
        let made = self.made.load(Ordering::Acquire);
        let mut heard = self.heard.subscribe();
        // At the deadline the dial that waits here says what it waits for.
        let _ = timeout_at(deadline, heard.wait_for(|heard| *heard >= made)).await;
    }
}
