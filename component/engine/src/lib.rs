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
//! cancel is ignored.** A probe that is never answered is given up by the engine
//! (SPEC C-5).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

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
