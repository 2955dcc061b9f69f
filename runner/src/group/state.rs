//! One group: its members, how they stand, and where it leads. It must not know its core,
//! nor other groups.

mod renewal;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::lowest::{self, Decision};
use super::policy::{GroupPlan, Policy};
use super::spread::{Flow, Sessions, Turn, by_domain};
use super::standing::Standing;
use crate::proxy_core::{Network, Outbound};
use crate::report::Report;

/// Below this the fastest member is fast enough to compare others with, in milliseconds
/// (G-4).
const FAST_MS: u64 = 100;

pub(super) struct State {
    pub(super) plan: GroupPlan,
    members: Vec<Member>,
    tcp: Lead,
    udp: Lead,
    spread: Spread,
}

struct Member {
    tag: Arc<str>,
    carries: Carries,
    standing: Standing,
}

/// Which traffic a member carries.
#[derive(Clone, Copy)]
struct Carries {
    tcp: bool,
    udp: bool,
}

impl Carries {
    fn of(member: &Outbound) -> Self {
        Self {
            tcp: member.networks.contains(&Network::Tcp),
            udp: member.networks.contains(&Network::Udp),
        }
    }

    fn this(self, network: Network) -> bool {
        match network {
            Network::Tcp => self.tcp,
            Network::Udp => self.udp,
        }
    }
}

/// The member for a new connection.
pub(super) struct Choice {
    pub(super) member: usize,
    pub(super) tag: String,
    /// Whether it is known to work.
    pub(super) lives: bool,
    /// How many others may be tried.
    pub(super) retries: u32,
    /// What ends the connection.
    pub(super) cut: Option<CancellationToken>,
}

/// Where a group leads for one kind of traffic.
#[derive(Default)]
struct Lead {
    member: Option<usize>,
    /// What was decided last, and said.
    said: Option<Decision>,
    /// Ends the connections made through the member.
    cut: CancellationToken,
}

/// What a balancer remembers.
enum Spread {
    Nothing,
    Turn(Turn),
    Sessions(Box<Sessions>),
}

/// Which members may be taken, from the best rule to the last.
#[derive(Clone, Copy)]
enum Tier {
    FastEnough,
    Alive,
    /// All are dead: all are tried (G-6).
    Any,
}

impl State {
    /// A group of members as the core lists them.
    pub(super) fn new<'a>(plan: GroupPlan, members: impl Iterator<Item = &'a Outbound>) -> Self {
        let mut members: Vec<Member> = members
            .map(|member| Member {
                tag: member.tag.as_str().into(),
                carries: Carries::of(member),
                standing: Standing::default(),
            })
            .collect();
        members.shrink_to_fit();
        let spread = match plan.policy {
            Policy::RoundRobin { .. } => Spread::Turn(Turn::default()),
            Policy::StickySessions { ttl, .. } => Spread::Sessions(Box::new(Sessions::new(ttl))),
            Policy::Selected | Policy::LowestDelay { .. } | Policy::ConsistentHashing => {
                Spread::Nothing
            }
        };
        Self {
            plan,
            members,
            tcp: Lead::default(),
            udp: Lead::default(),
            spread,
        }
    }

    pub(super) fn tag(&self, member: usize) -> &str {
        self.members.get(member).map_or("", |member| &member.tag)
    }

    pub(super) fn tags(&self) -> impl Iterator<Item = &Arc<str>> {
        self.members.iter().map(|member| &member.tag)
    }

    pub(super) fn standing(&self, member: usize) -> Option<&Standing> {
        self.members.get(member).map(|member| &member.standing)
    }

    /// Whether one member gets all connections; others choose for each anew (G-6).
    pub(super) fn leads(&self) -> bool {
        matches!(
            self.plan.policy,
            Policy::Selected | Policy::LowestDelay { .. }
        )
    }

    /// What was decided last, if it decides by delays.
    pub(super) fn said(&self, network: Network) -> Option<Decision> {
        self.lead_of(network).said
    }

    /// The member that it leads to.
    pub(super) fn lead(&self, network: Network) -> Option<usize> {
        self.lead_of(network).member
    }

    /// Leads to a member by its tag, else to its default, else to the first, of those that
    /// it may lead to.
    pub(super) fn begin(&mut self, network: Network, saved: Option<&str>) {
        let default = self.plan.default.as_deref();
        let named = [saved, default].into_iter().flatten();
        let member = named
            .filter_map(|tag| self.find(tag))
            .chain(0..self.members.len())
            .find(|&member| self.may_lead_to(member, network));
        self.lead_mut(network).member = member.filter(|_| self.leads());
    }

    pub(super) fn find(&self, tag: &str) -> Option<usize> {
        self.members.iter().position(|member| *member.tag == *tag)
    }

    /// Leads to another member from now on; says whether it is another.
    pub(super) fn turn_to(&mut self, network: Network, member: usize) -> bool {
        if !self.may_lead_to(member, network) || self.lead(network) == Some(member) {
            return false;
        }
        let interrupts = self.plan.interrupts;
        let lead = self.lead_mut(network);
        lead.member = Some(member);
        let cut = std::mem::take(&mut lead.cut);
        if interrupts {
            cut.cancel();
        }
        true
    }

    /// What ends the connections that are made through the group now.
    fn cut(&self, network: Network) -> Option<CancellationToken> {
        let ends = self.plan.interrupts && self.leads();
        ends.then(|| self.lead_of(network).cut.clone())
    }

    /// Takes a newer report of a member.
    pub(super) fn take(&mut self, member: usize, report: &Report) {
        if let Some(member) = self.members.get_mut(member) {
            member.standing.take(report);
        }
    }

    /// G-5: what a lowest-delay group is to do, and whether that was not said before.
    pub(super) fn decide(&mut self, network: Network) -> Option<(Decision, bool)> {
        let Policy::LowestDelay { tolerance_ms } = self.plan.policy else {
            return None;
        };
        let usable = self.members.iter().enumerate();
        let usable = usable
            .filter(|(_, member)| member.carries.this(network))
            .map(|(nth, member)| (nth, &member.standing));
        let decision = lowest::decide(usable, self.lead(network), tolerance_ms)?;
        let lead = self.lead_mut(network);
        let news = lead.said.replace(decision) != Some(decision);
        Some((decision, news))
    }

    /// The member for a new connection, among those that are not `shut`, with what that
    /// means for the connection.
    pub(super) fn choice(
        &mut self,
        network: Network,
        flow: Flow<'_>,
        shut: impl Fn(usize) -> bool,
    ) -> Option<Choice> {
        let member = self.choose(network, flow, shut)?;
        let lives = self.standing(member)?.delay().is_some();
        let retries = match self.plan.policy {
            Policy::Selected => 0,
            _ => self.plan.retries,
        };
        Some(Choice {
            member,
            tag: self.tag(member).to_owned(),
            lives,
            retries,
            cut: self.cut(network),
        })
    }

    fn choose(
        &mut self,
        network: Network,
        flow: Flow<'_>,
        shut: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let open = |member: usize| !shut(member);
        let lead = self.lead(network).filter(|&member| open(member));
        match self.plan.policy {
            Policy::Selected => lead.filter(|&member| self.carries(member, network)),
            Policy::LowestDelay { .. } => lead.or_else(|| self.fastest(network, open)),
            Policy::RoundRobin { .. }
            | Policy::ConsistentHashing
            | Policy::StickySessions { .. } => [Tier::FastEnough, Tier::Alive, Tier::Any]
                .into_iter()
                .find_map(|tier| self.next(network, flow, tier, &open)),
        }
    }

    fn next(
        &mut self,
        network: Network,
        flow: Flow<'_>,
        tier: Tier,
        open: &impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let limit = self.limit(network);
        let members = &self.members;
        let of_tier = |member: usize, tier| {
            let Some(it) = members.get(member) else {
                return false;
            };
            let delay = it.standing.delay();
            let fits = match tier {
                Tier::FastEnough => delay.is_some_and(|delay| is_within(delay, limit)),
                Tier::Alive => delay.is_some(),
                Tier::Any => true,
            };
            fits && it.carries.this(network) && open(member)
        };
        let good = |member| of_tier(member, tier);
        match &mut self.spread {
            Spread::Turn(turn) => turn.next(members.len(), good),
            // A session, once made, ends when its member dies, not when it is slow.
            Spread::Sessions(sessions) => sessions.member(
                flow,
                members.len(),
                |member| {
                    of_tier(
                        member,
                        if matches!(tier, Tier::Any) {
                            tier
                        } else {
                            Tier::Alive
                        },
                    )
                },
                good,
            ),
            Spread::Nothing => {
                let tags = members.iter().map(|member| &*member.tag);
                by_domain(flow, tags.enumerate(), |member| match tier {
                    // The delays must not move anything (G-6).
                    Tier::FastEnough => of_tier(member, Tier::Alive),
                    Tier::Alive | Tier::Any => good(member),
                })
            }
        }
    }

    /// The slowest delay that gets new connections (G-4).
    fn limit(&self, network: Network) -> f64 {
        let ratio = match self.plan.policy {
            Policy::RoundRobin { ratio } | Policy::StickySessions { ratio, .. } => ratio,
            Policy::Selected | Policy::LowestDelay { .. } | Policy::ConsistentHashing => 1.0,
        };
        let usable = self.members.iter();
        let usable = usable.filter(|member| member.carries.this(network));
        let best = usable.filter_map(|member| member.standing.delay()).min();
        in_f64(best.unwrap_or(0).max(FAST_MS)) * ratio
    }

    fn fastest(&self, network: Network, open: impl Fn(usize) -> bool) -> Option<usize> {
        let usable =
            (0..self.members.len()).filter(|&member| self.carries(member, network) && open(member));
        usable.min_by_key(|&member| {
            let delay = self.members[member].standing.delay();
            (delay.unwrap_or(u64::MAX), member)
        })
    }

    /// A person's choice holds for all traffic: what the member does not carry must not leave
    /// by another (G-1).
    fn may_lead_to(&self, member: usize, network: Network) -> bool {
        self.plan.policy == Policy::Selected || self.carries(member, network)
    }

    fn carries(&self, member: usize, network: Network) -> bool {
        let member = self.members.get(member);
        member.is_some_and(|member| member.carries.this(network))
    }

    fn lead_of(&self, network: Network) -> &Lead {
        match network {
            Network::Tcp => &self.tcp,
            Network::Udp => &self.udp,
        }
    }

    fn lead_mut(&mut self, network: Network) -> &mut Lead {
        match network {
            Network::Tcp => &mut self.tcp,
            Network::Udp => &mut self.udp,
        }
    }
}

fn is_within(delay: u64, limit: f64) -> bool {
    in_f64(delay) <= limit
}

#[allow(clippy::cast_precision_loss, reason = "delays are far below 2^52 ms")]
fn in_f64(delay: u64) -> f64 {
    delay as f64
}
