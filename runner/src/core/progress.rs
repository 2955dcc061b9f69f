//! What a dial is doing at the moment, so that its deadline can say what was late.
//! It must not know how any of it is done.

use std::time::Duration;

use crate::proxy_core::{Cause, FetchError, Phase};

/// The step that a dial is in, and what it has spent on names.
#[derive(Debug)]
pub(super) struct Progress {
    late: FetchError,
    /// Time spent in our own resolver; none when it was not asked.
    pub(super) dns: Option<Duration>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            late: FetchError::new(Phase::Dial, Cause::DialTimeout, "too late"),
            dns: None,
        }
    }

    /// `name` is being resolved.
    pub(super) fn resolving(&mut self, name: &str) {
        let text = format!("the resolver did not answer for `{name}` in time");
        self.late = FetchError::new(Phase::Dial, Cause::DnsTimeout, text);
    }

    /// A connection to `peer` is being opened.
    pub(super) fn connecting(&mut self, peer: &str) {
        let text = format!("the connection to {peer} did not open in time");
        self.late = FetchError::new(Phase::Dial, Cause::DialTimeout, text);
    }

    /// `proxy` is being talked to.
    pub(super) fn shaking_hands(&mut self, proxy: &str) {
        let text = format!("{proxy} accepted the connection but did not answer in time");
        self.late = FetchError::new(Phase::Proxy, Cause::Timeout, text);
    }

    /// The error when the deadline passes now.
    pub(super) fn late(self) -> FetchError {
        self.late
    }
}
