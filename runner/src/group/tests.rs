//! Groups over a core that only lists and remembers, fed with reports by hand.

mod lowest;
mod plans;
mod renewal;
mod spread;
mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::time::Instant;

use super::{Flow, GroupPlan, Groups, Pick, Policy};
use crate::proxy_core::{
    Cause, Dialed, FetchError, Host, Kind, Network, Outbound, Phase, ProxyCore, SelectError, Target,
};
use crate::report::{Report, State};
use crate::store::MemoryCache;

/// A core of outbounds and groups that is told where the groups lead.
#[derive(Default)]
struct Core {
    listed: Vec<Outbound>,
    led: Mutex<BTreeMap<(String, bool), String>>,
}

#[async_trait]
impl ProxyCore for Core {
    fn list(&self) -> Vec<Outbound> {
        self.listed.clone()
    }

    fn selected(&self, group: &str, network: Network) -> Option<String> {
        let key = (group.to_owned(), network == Network::Udp);
        self.led.lock().unwrap().get(&key).cloned()
    }

    fn select(&self, group: &str, network: Network, member: &str) -> Result<(), SelectError> {
        let key = (group.to_owned(), network == Network::Udp);
        self.led.lock().unwrap().insert(key, member.to_owned());
        Ok(())
    }

    async fn dial(&self, _: &str, _: &Target, _: Instant) -> Result<Dialed, FetchError> {
        let text = "it dials nothing";
        Err(FetchError::new(Phase::Dial, Cause::Unsupported, text))
    }
}

/// A group `g` of these members, over a core and a cache that the test can look into.
struct Scene {
    core: Arc<Core>,
    cache: Arc<MemoryCache>,
    groups: Groups,
    policy: Policy,
    members: Vec<Outbound>,
}

impl Scene {
    fn new(policy: Policy, members: &[&str]) -> Self {
        let members = members.iter().map(|&tag| Outbound::new(tag, "x"));
        Self::of(policy, members.collect())
    }

    fn of(policy: Policy, members: Vec<Outbound>) -> Self {
        let cache = Arc::new(MemoryCache::default());
        let plan = GroupPlan::new("g", policy);
        Self::built(plan, members, cache)
    }

    fn built(plan: GroupPlan, members: Vec<Outbound>, cache: Arc<MemoryCache>) -> Self {
        let tags = members.iter().map(|member| member.tag.clone());
        let group = Outbound::group("g", "x", tags);
        let core = Arc::new(Core {
            listed: members.iter().cloned().chain([group]).collect(),
            ..Core::default()
        });
        Self {
            policy: plan.policy,
            groups: Groups::new(core.clone(), [plan], cache.clone()),
            core,
            cache,
            members,
        }
    }

    /// The next run of the process.
    fn restarted(self) -> Self {
        let plan = GroupPlan::new("g", self.policy);
        Self::built(plan, self.members, self.cache)
    }

    /// Takes results; says whether the group moved.
    fn hears(&self, reports: &[Report]) -> bool {
        !self.groups.observe(reports).is_empty()
    }

    /// Where the core was told that the group leads.
    fn lead(&self) -> Option<String> {
        self.core.selected("g", Network::Tcp)
    }

    fn pick(&self, destination: &str) -> Option<Pick> {
        self.pick_from("192.0.2.1", destination, &[])
    }

    fn pick_from(&self, source: &str, destination: &str, tried: &[&str]) -> Option<Pick> {
        let destination = destination
            .parse()
            .map_or_else(|_| Host::Name(destination.into()), Host::Ip);
        let flow = Flow {
            source: Some(source.parse::<IpAddr>().unwrap()),
            destination: &destination,
        };
        let tried: BTreeSet<String> = tried.iter().map(|&tag| tag.to_owned()).collect();
        self.groups.pick("g", Network::Tcp, flow, &tried)
    }

    /// The tags that connections to these destinations get.
    fn tags<'a>(&self, destinations: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let picks = destinations.into_iter().map(|to| self.pick(to));
        picks.map(|pick| pick.unwrap().tag).collect()
    }
}

/// A working result, measured in this second.
fn ok(tag: &str, delay_ms: u32, second: i64) -> Report {
    Report {
        state: State::Ok,
        delay_ms: Some(delay_ms),
        tested_at: Some(Timestamp::from_second(second).unwrap()),
        ..untested(tag)
    }
}

/// A result of an earlier run.
fn cached(tag: &str, delay_ms: u32) -> Report {
    Report {
        state: State::Cached,
        from_cache: true,
        ..ok(tag, delay_ms, 0)
    }
}

fn failed(tag: &str) -> Report {
    Report {
        state: State::Failed,
        ..untested(tag)
    }
}

/// Of which nothing is known.
pub(crate) fn untested(tag: &str) -> Report {
    Report::untested(tag, Kind::Outbound, "x")
}
