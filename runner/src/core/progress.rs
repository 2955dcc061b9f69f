//! What a dial is doing at the moment, so that its deadline can say what was late.
//! It must not know how any of it is done.

use std::time::Duration;

use super::proxy::Proxy;
use crate::proxy_core::{Cause, FetchError, Phase, Target};

/// The step that a dial is in, and what it has spent on names.
#[derive(Debug)]
pub(super) struct Progress {
    step: Step,
    /// Time spent in our own resolver; none when it was not asked.
    pub(super) dns: Option<Duration>,
}

/// Put into words only when it was late, which few are.
#[derive(Debug)]
enum Step {
    Begun,
    Resolving(String),
    Connecting(Target),
    ShakingHands(Proxy),
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            step: Step::Begun,
            dns: None,
        }
    }

    /// `name` is being resolved.
    pub(super) fn resolving(&mut self, name: &str) {
        self.step = Step::Resolving(name.to_owned());
    }

    /// A connection to `peer` is being opened.
    pub(super) fn connecting(&mut self, peer: &Target) {
        self.step = Step::Connecting(peer.clone());
    }

    /// `proxy` is being talked to.
    pub(super) fn shaking_hands(&mut self, proxy: Proxy) {
        self.step = Step::ShakingHands(proxy);
    }

    /// The error when the deadline passes now.
    pub(super) fn late(self) -> FetchError {
        let (phase, cause, text) = match self.step {
            Step::Begun => (Phase::Dial, Cause::DialTimeout, "too late".to_owned()),
            Step::Resolving(name) => (
                Phase::Dial,
                Cause::DnsTimeout,
                format!("the resolver did not answer for `{name}` in time"),
            ),
            Step::Connecting(peer) => (
                Phase::Dial,
                Cause::DialTimeout,
                format!("the connection to {peer} did not open in time"),
            ),
            Step::ShakingHands(proxy) => (
                Phase::Proxy,
                Cause::Timeout,
                format!("{proxy} accepted the connection but did not answer in time"),
            ),
        };
        FetchError::new(phase, cause, text)
    }
}
