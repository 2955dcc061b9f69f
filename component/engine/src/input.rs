//! What the host tells the engine: the setup, and everything that happens later.
//! It must not know what the engine makes of it.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::action::Level;
use crate::options::Options;
use crate::report::{Failure, View};
use crate::{ProbeId, SubscriberId, Ticket};

/// What a monitor starts from.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The options in force.
    pub options: Options,
    /// Everything the core has, in config order.
    pub outbounds: Vec<Outbound>,
    /// What each group selects; a group without an entry has not chosen.
    pub selections: Vec<Selection>,
    /// Every saved pair whose key starts with [`SAVED_PREFIX`](crate::SAVED_PREFIX).
    pub saved: Vec<(String, Vec<u8>)>,
    /// Any random number; decides at which IP service a monitor begins.
    pub seed: u64,
}

/// What an entry of the core is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A way out; tested.
    Outbound,
    /// A way out that is also a tunnel end; tested.
    Endpoint,
    /// Made of members; not tested itself.
    Group,
    /// Never tested.
    Untestable,
}

/// One outbound, endpoint or group of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// Unique; of two entries with the same tag the second is ignored.
    pub tag: String,
    /// The core's own word for its type.
    pub type_name: String,
    /// What it is.
    pub kind: Kind,
    /// What it dials through.
    pub detour: Option<String>,
    /// A group's members; ignored for what is no group.
    pub members: Vec<String>,
    /// Stands for the server's identity; saved results need an equal one.
    pub fingerprint: String,
    /// Its exit has the address of the host's network (`direct`).
    pub exit_follows_host: bool,
}

/// What a group selects for each transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The group's tag.
    pub group: String,
    /// The member for TCP; results and detours follow this one.
    pub tcp: Option<String>,
    /// The member for UDP.
    pub udp: Option<String>,
}

/// Whether an outbound can be tested now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// Not yet, with the core's reason.
    NotReady(String),
    /// Not ever in this core, with what would make it work.
    Unsupported(String),
}

/// Something that happened. Unknown tags, probes and subscribers are ignored.
#[derive(Clone, Debug)]
pub enum Input {
    /// A probe is over.
    ProbeEnded {
        /// Which one.
        probe: ProbeId,
        /// How it ended.
        outcome: ProbeOutcome,
    },
    /// Someone asks for a test; answered by one [`Action::Answer`](crate::Action::Answer).
    Ask {
        /// Comes back with the answer.
        ticket: Ticket,
        /// An outbound or group.
        tag: String,
    },
    /// Someone wants updates. The first one holds the current state.
    Subscribe {
        /// Stands in every update for it.
        subscriber: SubscriberId,
        /// What it wants.
        filter: Filter,
    },
    /// The subscriber took its last update and can take another.
    Taken(SubscriberId),
    /// The subscriber is gone.
    Unsubscribe(SubscriberId),
    /// A connection of a user went through the core.
    Activity,
    /// The host's network changed.
    NetworkChanged,
    /// A connection of a user failed.
    ConnectionFailed {
        /// Through this outbound.
        tag: String,
        /// Chosen by this group.
        group: Option<String>,
        /// Whose fault it was.
        cause: Cause,
    },
    /// A group selects something else.
    Selected(Selection),
    /// An outbound finished connecting.
    OutboundReady(String),
    /// The core has other outbounds now.
    Outbounds {
        /// All of them, in config order.
        outbounds: Vec<Outbound>,
        /// What each group selects.
        selections: Vec<Selection>,
    },
    /// The device goes to sleep: no tests until [`Input::Resume`] but those asked for.
    Pause,
    /// It woke up; counts as one change of the network. Nothing when not paused.
    Resume,
    /// From now on only lines of this level or above are read, and so written; none at
    /// all for none. The first steps write all.
    LogFrom(Option<Level>),
    /// The monitor ends: cancels, answers and saves all that is open. Every later
    /// input is ignored.
    Stop,
}

/// How a probe ended.
#[derive(Clone, Debug)]
pub enum ProbeOutcome {
    /// An HTTP response came, whatever its status.
    Answered(Answer),
    /// None came.
    Failed(Failure),
    /// Nothing was sent: the outbound cannot be tested now. The answer to a probe
    /// that is not [`forced`](crate::Probe::forced).
    NotReady(Readiness),
}

/// The part of an HTTP response that the engine asked for.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The response headers asked for, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body up to the limit asked for.
    pub body: Vec<u8>,
    /// From before the dial until the response headers.
    pub first_byte: Duration,
    /// The second round trip on the same connection.
    pub repeat: Option<Duration>,
}

/// Whose fault a failed connection was (SPEC E-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The outbound or its way.
    Member,
    /// The destination; ignored.
    Destination,
    /// The client; ignored.
    Client,
}

/// What a subscriber wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Whose reports.
    pub scope: Scope,
    /// In which view.
    pub view: View,
}

/// Whose reports a subscriber wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All.
    All,
    /// One outbound's or group's.
    Tag(String),
    /// A group's and all its members', nested ones too.
    Group(String),
}
