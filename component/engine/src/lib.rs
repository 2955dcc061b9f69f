//! The monitoring engine of Outwatch: a state machine without I/O.
//!
//! It says which outbound of a proxy core to test, when and why, keeps what the
//! tests found, and says whom to tell. It never waits, reads a clock, draws a
//! random number or touches the world; the crate is `no_std` so that the compiler
//! holds it to that.
//!
//! # Running it
//!
//! A host owns one [`Monitor`] and repeats three steps:
//!
//! 1. Call [`Monitor::step`] with the current time and everything that happened
//!    since the last call, in order.
//! 2. Carry out every [`Action`] of the [`Outcome`], in order.
//! 3. Wait until something happens or `wake_at` is reached, whichever is first.
//!
//! **Every [`Action::Probe`] must be answered by exactly one
//! [`Input::ProbeEnded`], unless it is canceled first; an answer after a
//! cancel is ignored.**
//!
//! A test's probe that is not answered in time (three times its deadline and two
//! seconds) is given up: the outbound is failed as `stuck` and its worker goes on.
//! Such a probe is *not* canceled, so that its return can be seen: while two of one
//! outbound are out, that outbound is failed without a probe (SPEC C-5). Give every
//! probe an end of its own to keep this from happening. An asked-for test is ended by
//! its last mark, an IP lookup or IPv6 check by the same limit; both are canceled.
//!
//! # What a step is made of
//!
//! Inputs are absorbed, what ended or is due is settled, the rules react to that,
//! tests are admitted as far as there is room, everyone is told, and the next
//! wake-up is worked out. State moves forward only: no phase reads what a later one
//! writes. `monitor` holds the phases; the other modules are the rooms they use.
//!
//! # Time
//!
//! The host supplies both clocks with each step. The monotonic one measures; the
//! wall clock stamps results and may jump. A wall clock that ran ahead by more than
//! the interval, or a step that late for its wake-up, counts as sleep (SPEC C-6).
//! While nobody uses the core and nothing runs, `wake_at` is `None` (SPEC N-1).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
mod labels;

mod action;
mod asks;
mod board;
mod cycle;
mod demand;
mod expect;
mod followup;
mod gate;
mod input;
mod journal;
mod life;
mod lookup;
mod monitor;
mod options;
mod publisher;
mod record;
mod report;
mod ring;
mod running;
mod saved;
mod services;
mod stages;
mod text;
mod time;
mod timers;
mod topology;
mod urls;

pub use action::{Action, AskError, Level, Outcome, Probe, Request, Update};
pub use input::{
    Answer, Cause, Filter, Input, Kind, Outbound, ProbeOutcome, Readiness, Scope, Selection, Setup,
};
pub use monitor::Monitor;
pub use options::{ExpectedStatus, Options, StatusRange};
pub use report::{
    DelaySource, ErrorKind, Failure, IpInfo, Ipv6, Ipv6Source, Measurement, Reason, Report, State,
    Stats, View,
};
pub use services::{hosts as service_hosts, read_answer};
pub use time::{Instant, Now};

/// Names of branches, and which of them this process has reached.
#[cfg(feature = "labels")]
pub use labels::all as labels;

/// Keys of saved results in the host's cache start with this; the engine reads
/// and writes no others.
pub const SAVED_PREFIX: &str = "result/";

/// Names one probe for as long as the monitor lives; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProbeId(pub u64);

/// Names one asked-for test; chosen by the host, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Names one subscriber; chosen by the host, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriberId(pub u64);
