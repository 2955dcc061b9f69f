//! The log line of a lowest-delay group's decision (L-1), by the grammar of docs/LOG.md.
//! It must not decide anything.

use std::fmt::Write as _;

use serde_json::Value;

use super::lowest::Decision;
use super::state::State;
use crate::proxy_core::Network;

/// What a group decided, and why.
pub(super) fn line(group: &State, network: Network, decision: Decision) -> String {
    let event = if decision.why.takes() {
        "taken"
    } else {
        "kept"
    };
    let network = match network {
        Network::Tcp => "tcp",
        Network::Udp => "udp",
    };
    let text = |tag: &str| Value::from(tag).to_string();
    let mut line = format!(
        "LOWEST event={event} group={} network={network} reason={} member={}",
        text(&group.plan.tag),
        decision.why.as_str(),
        text(group.tag(decision.member)),
    );
    let delay = |member| group.standing(member).and_then(|standing| standing.delay());
    if let Some(delay) = delay(decision.member) {
        // Writing to a string cannot fail.
        let _ = write!(line, " delay_ms={delay}");
    }
    if let Some(fastest) = decision.fastest {
        let _ = write!(line, " fastest={}", text(group.tag(fastest)));
        if let Some(delay) = delay(fastest) {
            let _ = write!(line, " fastest_ms={delay}");
        }
    }
    line
}
