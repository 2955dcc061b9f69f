//! Parity: one script, played once by the engine alone and once by the component in
//! its runtime, must leave the same trace. It must not know what a script is about.
//!
//! The native side goes first. Where it finds two things in one millisecond (an answer
//! and a wake-up, say), it moves one of them to the next: what a host sees first is a
//! matter of luck, and no rule of the engine. The component's side takes the times that
//! came of it, so both see the same story in the same order.

mod component;
mod native;
mod script;
mod trace;
mod words;
mod world;

pub use script::{Event, Pace, Script};
pub use trace::{Lane, Line, Trace};
pub use world::{Reply, Rule, World};

use std::collections::BTreeMap;

/// Plays a script on both sides; gives the trace, which is the same.
///
/// # Panics
/// When the traces differ; the message shows where.
pub fn check(script: &Script) -> Vec<Line> {
    let (native, times) = native::play(script);
    let component = component::play(script, times);
    trace::compare(&native, &component);
    native
}

/// When everything happens, in milliseconds from the start, as the native side
/// settled it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// The script's events, in order.
    events: Vec<u64>,
    /// The ends of the fetches.
    fetches: BTreeMap<FetchKey, u64>,
}

/// The n-th fetch through an outbound.
pub(crate) type FetchKey = (String, u32);
