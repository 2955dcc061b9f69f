//! How a group stands, for people and programs that look at it: its members, where it leads
//! and why. It must not decide anything.

use super::lowest::{self, Why};
use super::policy::Policy;
use super::standing::{Grade, Standing};
use super::state::State;
use crate::proxy_core::Network;

/// How a group stands at one moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupStatus {
    /// Its tag.
    pub tag: String,
    /// By what it chooses.
    pub policy: Policy,
    /// The tags of its members, in config order.
    pub members: Vec<String>,
    /// The member that it leads to for TCP; none when it chooses for each connection anew,
    /// or has no member that carries it.
    pub tcp: Option<String>,
    /// The same for UDP.
    pub udp: Option<String>,
    /// What a lowest-delay group decided last for TCP; none before any result, and for
    /// other groups.
    pub tcp_decision: Option<Decision>,
    /// The same for UDP.
    pub udp_decision: Option<Decision>,
}

/// What a lowest-delay group decided, as its log line tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// Whether another member was taken; else the one before was kept.
    pub taken: bool,
    /// Why, as in the log: `none-works`, `fastest`, `within-tolerance`, `current-failed`,
    /// `current-only-cached` or `faster`.
    pub reason: &'static str,
    /// The member that was kept or taken.
    pub member: String,
    /// Its delay, by which it was compared: one of an earlier run counts as 20 s slower.
    pub delay_ms: Option<u64>,
    /// The fastest member that works, if one does.
    pub fastest: Option<String>,
    /// Its delay.
    pub fastest_ms: Option<u64>,
    why: Why,
    /// Both members as a person reads them.
    named: [String; 2],
}

impl GroupStatus {
    /// Whether a person can choose where it leads (G-1).
    pub fn selectable(&self) -> bool {
        self.policy == Policy::Selected
    }

    /// Why it leads where it leads, in a sentence for people; none where a person chose.
    pub fn why(&self) -> Option<String> {
        match self.policy {
            Policy::Selected => None,
            Policy::LowestDelay { tolerance_ms } => self.why_lowest(tolerance_ms),
            Policy::RoundRobin { .. } => {
                Some("each new connection takes the next member that is fast enough".to_owned())
            }
            Policy::ConsistentHashing => {
                Some("all connections to one domain take the same member".to_owned())
            }
            Policy::StickySessions { .. } => {
                Some("a client keeps its member for each destination".to_owned())
            }
        }
    }

    fn why_lowest(&self, tolerance_ms: u32) -> Option<String> {
        let told = |decision: &Decision| decision.told(tolerance_ms);
        let (tcp, udp) = (self.tcp_decision.as_ref(), self.udp_decision.as_ref());
        match (tcp, udp) {
            (Some(tcp), Some(udp)) if tcp != udp => {
                Some(format!("{}; for UDP {}", told(tcp), told(udp)))
            }
            (Some(decision), _) | (None, Some(decision)) => Some(told(decision)),
            (None, None) => None,
        }
    }

    pub(super) fn of(state: &State) -> Self {
        let lead = |network| Some(state.tag(state.lead(network)?).to_owned());
        let decision = |network| state.said(network).map(|said| Decision::of(state, said));
        Self {
            tag: state.plan.tag.clone(),
            policy: state.plan.policy,
            members: state.tags().map(|tag| tag.to_string()).collect(),
            tcp: lead(Network::Tcp),
            udp: lead(Network::Udp),
            tcp_decision: decision(Network::Tcp),
            udp_decision: decision(Network::Udp),
        }
    }
}

impl Decision {
    fn of(state: &State, decision: lowest::Decision) -> Self {
        let lowest::Decision {
            member,
            fastest,
            why,
        } = decision;
        let delay = |member| state.standing(member)?.delay();
        Self {
            taken: why.takes(),
            reason: why.as_str(),
            member: state.tag(member).to_owned(),
            delay_ms: delay(member),
            fastest: fastest.map(|fastest| state.tag(fastest).to_owned()),
            fastest_ms: fastest.and_then(delay),
            why,
            named: [named(state, Some(member)), named(state, fastest)],
        }
    }

    fn told(&self, tolerance_ms: u32) -> String {
        let verb = if self.taken { "took" } else { "kept" };
        let [member, fastest] = &self.named;
        match self.why {
            Why::NoneWorks => format!("{verb} {member}: no member is known to work"),
            Why::Fastest => format!("{verb} {member}: it is the fastest"),
            Why::WithinTolerance => format!(
                "{verb} {member}: {fastest} is not faster by more than the tolerance of {tolerance_ms} ms"
            ),
            Why::CurrentFailed => {
                format!("{verb} {member}: the one before does not work, and this is the fastest")
            }
            Why::CurrentOnlyCached => format!(
                "{verb} {member}: the one before has worked in an earlier run only, and this is the fastest"
            ),
            Why::Faster => format!(
                "{verb} {member}: it is faster than the one before by more than the tolerance of {tolerance_ms} ms"
            ),
        }
    }
}

/// A member with its delay, where that is known.
fn named(state: &State, member: Option<usize>) -> String {
    let Some(member) = member else {
        return String::new();
    };
    let tag = state.tag(member);
    match state.standing(member).map(Standing::grade) {
        Some(Grade::Fresh(delay)) => format!("`{tag}` ({delay} ms)"),
        Some(Grade::Cached(delay)) => format!("`{tag}` ({delay} ms in an earlier run)"),
        Some(Grade::Dead) | None => format!("`{tag}`"),
    }
}
