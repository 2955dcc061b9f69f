//! What is asked of one sing-box after the other until one answers: as the user that is led
//! to the outbound, and with the log's words where it fails. It must not know what is asked
//! for.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_socks::Error;

use super::cause;
use super::child_config::user;
use super::log_line;
use super::state::{Live, Now, Shared};
use crate::config::Entry;
use crate::proxy_core::{Cause, FetchError, Network, Phase};

/// How long the log may take to say why something failed.
const WORDS_WITHIN: Duration = Duration::from_millis(500);

/// While sing-box is down there is none, and when it ends in the middle there is another:
/// that is no fault of the outbound.
pub(super) struct Attempts<'a> {
    shared: &'a Shared,
    tag: &'a str,
    network: Network,
    /// What is asked for, in words.
    what: String,
    last: Option<Arc<Live>>,
}

impl<'a> Attempts<'a> {
    /// To have `what` through `tag`.
    ///
    /// # Errors
    /// There is no such outbound, or it cannot do that.
    pub(super) fn new(
        shared: &'a Shared,
        tag: &'a str,
        network: Network,
        what: String,
    ) -> Result<Self, FetchError> {
        let attempts = Self {
            shared,
            tag,
            network,
            what,
            last: None,
        };
        attempts.find(&shared.now())?;
        Ok(attempts)
    }

    /// Waits for a sing-box.
    pub(super) async fn next(&self, deadline: Instant) -> Result<Attempt, FetchError> {
        let up = self.shared.up(self.last.as_ref(), deadline).await;
        let (now, live) = up.map_err(|why| FetchError::new(Phase::Dial, Cause::Other, why))?;
        let index = self.find(&now)?;
        let attempt = Attempt {
            live,
            user: user(index),
            now,
            index,
            what: self.what.clone(),
            begun: Instant::now(),
        };
        if attempt.now.outbounds.goes_through_group(attempt.tag()) {
            self.shared.selections_heard(deadline).await;
        }
        Ok(attempt)
    }

    /// It failed.
    ///
    /// # Errors
    /// That was no fault of sing-box.
    pub(super) async fn failed(
        &mut self,
        attempt: Attempt,
        fault: Fault,
    ) -> Result<(), FetchError> {
        match fault {
            Fault::Outbound(error) => Err(error),
            Fault::SingBox(error) if attempt.live.is_there().await => Err(error),
            Fault::SingBox(_) => {
                self.last = Some(attempt.live);
                Ok(())
            }
        }
    }

    /// The place of the outbound that the tag leads to, if sing-box has it.
    fn find(&self, now: &Now) -> Result<usize, FetchError> {
        let (tag, outbounds) = (self.tag, &now.outbounds);
        if outbounds.find(tag).is_none() {
            return Err(unsupported(format!("there is no outbound `{tag}`")));
        }
        let leaf = outbounds.leaf(tag, self.network, &self.shared.selections);
        let Some((index, entry)) = leaf else {
            return Err(unsupported(format!("`{tag}` leads to no outbound")));
        };
        let leaf = &entry.tag;
        if let Some(why) = outbounds.why_left_out(index) {
            return Err(unsupported(format!("`{leaf}` cannot be dialed: {why}")));
        }
        let selections = &self.shared.selections;
        if self.network == Network::Udp && !outbounds.carries_datagrams_now(leaf, selections) {
            return Err(unsupported(format!("`{leaf}` carries no datagrams")));
        }
        Ok(index)
    }
}

/// Whose fault it is that something does not open.
pub(super) enum Fault {
    Outbound(FetchError),
    /// It spoke otherwise than it should, or not at all.
    SingBox(FetchError),
}

/// One of them.
pub(super) struct Attempt {
    pub(super) live: Arc<Live>,
    pub(super) user: String,
    now: Arc<Now>,
    /// The outbound's place.
    index: usize,
    what: String,
    begun: Instant,
}

impl Attempt {
    pub(super) fn entry(&self) -> &Entry {
        &self.now.outbounds.entries[self.index]
    }

    fn tag(&self) -> &str {
        &self.entry().tag
    }

    /// A connection to sing-box's inbound, and the port that the log knows it by.
    pub(super) async fn connect(&self) -> Result<(TcpStream, u16), Fault> {
        let stream = TcpStream::connect(self.live.socks)
            .await
            .map_err(|error| lost(&error))?;
        // It only costs time where it cannot be set.
        let _ = stream.set_nodelay(true);
        let port = stream.local_addr().map_err(|error| lost(&error))?.port();
        Ok((stream, port))
    }

    /// Why the inbound refuses.
    pub(super) async fn refused(&self, port: u16, error: Error, deadline: Instant) -> Fault {
        match error {
            Error::Io(error) => lost(&error),
            // Somebody else listens there now.
            Error::PasswordAuthFailure(_) | Error::NoAcceptableAuthMethods => {
                lost(&io::Error::other(error))
            }
            error => {
                let (said, words) = self.said(port, deadline).await.unzip();
                let (phase, cause) = said.flatten().unwrap_or_else(|| cause::of_reply(&error));
                let why = words.unwrap_or_else(|| error.to_string());
                Fault::Outbound(FetchError::new(phase, cause, self.text(&why)))
            }
        }
    }

    /// Why what had opened came to nothing, if the log says so.
    pub(super) async fn broken(&self, port: u16) -> Option<FetchError> {
        let (meaning, words) = self.said(port, Instant::now() + WORDS_WITHIN).await?;
        let (phase, cause) = meaning.unwrap_or((Phase::Proxy, Cause::Other));
        Some(FetchError::new(phase, cause, self.text(&words)))
    }

    /// What the log says of the connection from `port`, and what that means (T-10).
    async fn said(&self, port: u16, deadline: Instant) -> Option<(Option<(Phase, Cause)>, String)> {
        let until = deadline.min(Instant::now() + WORDS_WITHIN);
        let journal = &self.live.journal;
        let said = journal.failure(port, self.begun, until).await?;
        let words = log_line::cause(&said, self.tag());
        Some((cause::of_words(words), words.to_owned()))
    }

    /// It works: what the outbound waited for has come.
    pub(super) fn works(&self) {
        self.live.journal.works(self.tag());
    }

    /// How long it has taken so far.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The deadline passed.
    pub(super) fn late(&self) -> FetchError {
        let complaint = self.live.journal.complaint(self.tag(), self.begun);
        let why = complaint.unwrap_or_else(|| "it did not open in time".to_owned());
        FetchError::new(Phase::Dial, Cause::DialTimeout, self.text(&why))
    }

    fn text(&self, why: &str) -> String {
        let why = super::secrets::without(&self.entry().options, why);
        format!("{} through `{}`: {why}", self.what, self.tag())
    }
}

/// What is lost on the way to sing-box is its fault.
pub(super) fn lost(error: &io::Error) -> Fault {
    let text = format!("talking with sing-box failed: {error}");
    Fault::SingBox(FetchError::new(Phase::Dial, Cause::Other, text))
}

pub(super) fn unsupported(text: String) -> FetchError {
    FetchError::new(Phase::Dial, Cause::Unsupported, text)
}
