//! What the engine asks of the host. Actions are carried out in order.
//! It must not know why they are asked for.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::report::Report;
use crate::time::Instant;
use crate::{ProbeId, SubscriberId, Ticket};

/// What one step came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// To be carried out, in order.
    pub actions: Vec<Action>,
    /// When to step again if nothing happens before; never, if absent.
    pub wake_at: Option<Instant>,
}

/// One thing to do.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "answers are rare; a box would only burden hosts"
)]
pub enum Action {
    /// Do one HTTP exchange through an outbound and answer with
    /// [`Input::ProbeEnded`](crate::Input::ProbeEnded).
    Probe(Probe),
    /// Give up a probe; no answer is needed.
    Cancel(ProbeId),
    /// Tell the one who asked for a test.
    Answer {
        /// Names the question.
        ticket: Ticket,
        /// The confirmed report when the test was over.
        result: Result<Report, AskError>,
    },
    /// Hand an update to a subscriber, and say [`Input::Taken`](crate::Input::Taken)
    /// once it has it. Until then it gets no other.
    Publish {
        /// Who gets it.
        subscriber: SubscriberId,
        /// What it gets.
        update: Update,
    },
    /// Change the saved pairs, all at once: remove, then write.
    Save {
        /// Keys to remove.
        delete: Vec<String>,
        /// Pairs to write.
        set: Vec<(String, Vec<u8>)>,
    },
    /// Write a line to the log.
    Log {
        /// How much it matters.
        level: Level,
        /// One line, without a line break.
        line: String,
    },
    /// The monitor has stopped: nothing follows.
    Stopped,
}

/// One HTTP exchange through one outbound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Names it.
    pub id: ProbeId,
    /// Through which outbound.
    pub tag: String,
    /// Send it even when the outbound is not ready (SPEC D-1: tested anyway). When
    /// false, an outbound that is not ready is answered with
    /// [`ProbeOutcome::NotReady`](crate::ProbeOutcome::NotReady).
    pub forced: bool,
    /// What to send.
    pub request: Request,
}

/// What to send, and how much of the answer is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// HEAD if true, else GET.
    pub head: bool,
    /// Absolute, `http` or `https`.
    pub url: String,
    /// Bounds the whole exchange.
    pub deadline: Duration,
    /// How much of the body to read at most, in bytes.
    pub body_limit: u32,
    /// Lower-case names of the response headers wanted.
    pub response_headers: Vec<&'static str>,
    /// Send it twice on one connection and time the second too.
    pub repeat: bool,
    /// Dial the URL's host over IPv6 only.
    pub ipv6_only: bool,
}

/// Why an asked-for test gave no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// No outbound or group has this tag.
    UnknownTag,
    /// It is never tested.
    Untestable,
    /// It cannot be tested now; it will be once it is ready.
    NotReady(String),
    /// The monitor was stopped first.
    Stopped,
}

/// What changed since a subscriber's last update.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Update {
    /// The current reports of what changed.
    pub reports: Vec<Report>,
    /// Tags that are gone; none of them is among `reports`.
    pub removed: Vec<String>,
    /// It did not wait for the debounce window.
    pub urgent: bool,
}

/// How much a log line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the whole meaning")]
pub enum Level {
    Debug,
    Info,
    Warn,
}
