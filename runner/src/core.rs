//! The native proxy core: outbounds, endpoints and groups of a sing-box style config,
//! dialed by this process. It must not know the monitor, nor where a config came from.

mod carriage;
mod carrier;
pub(crate) mod certificate;
mod dialer;
mod eyeballs;
mod group;
mod node;
mod opening;
pub(crate) mod options;
mod outbound;
mod over_stream;
mod progress;
mod proxy;
mod resolve;
mod tags;
#[cfg(test)]
mod tests;
mod tls;
mod transport;
mod upgrade;
mod way;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use self::group::Group;
use self::node::{Common, Node, Role, Route};
use self::progress::Progress;
use self::resolve::{Resolver, System};
use self::tags::Tags;
use self::way::Way;
use crate::config::Entry;
use crate::fetch::{Fetch, Trust};
use crate::proxy_core::{
    Cause, Datagrams, Dialed, FetchError, Network, Outbound, Phase, ProxyCore, Readiness, Request,
    Response, SelectError, Target,
};
use crate::report::{Problem, Severity};

/// The proxy core that comes with Outwatch.
///
/// It dials `direct`, `socks`, `http`, `shadowsocks`, `trojan` and `vless` outbounds,
/// through each other where a `detour` says so, and follows groups. An outbound of another type is listed, and
/// is not ready for good (D-6).
pub struct NativeCore {
    nodes: Vec<Node>,
    tags: Tags,
    resolver: Arc<dyn Resolver>,
    trust: Trust,
}

impl NativeCore {
    /// A core of these entries, and what is wrong with their options: wrong values as
    /// errors, unknown fields as warnings (F-4). An entry with an error is not ready.
    ///
    /// `certificate` is the config's top-level object of that name. Its authorities
    /// hold for outbounds that do TLS and for what is fetched through any outbound.
    pub fn new(
        entries: &[Entry],
        certificate: Option<&Map<String, Value>>,
    ) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let trust = certificate::trust(certificate, &mut problems);
        let tags = Tags::of(entries.len(), |place| &entries[place].tag);
        let mut common = Common::new(entries, &tags, trust.clone());
        let mut nodes: Vec<Node> = entries
            .iter()
            .map(|entry| Node::read(entry, &mut common, &mut problems))
            .collect();
        carriage::list(&mut nodes);
        problems.sort_by_key(|problem| problem.severity == Severity::Warning);
        (
            Self {
                nodes,
                tags,
                resolver: Arc::new(System),
                trust,
            },
            problems,
        )
    }

    fn node(&self, index: usize) -> Option<&Node> {
        self.nodes.get(index)
    }

    fn find(&self, tag: &str) -> Option<(usize, &Node)> {
        let tag_at = |index: usize| self.nodes[index].listed.tag.as_str();
        let index = self.tags.find(tag, tag_at)?;
        Some((index, self.node(index)?))
    }

    fn index(&self, tag: &str) -> Result<usize, FetchError> {
        self.find(tag).map(|(index, _)| index).ok_or_else(|| {
            let text = format!("there is no outbound `{tag}`");
            FetchError::new(Phase::Dial, Cause::Unsupported, text)
        })
    }

    fn group(&self, tag: &str) -> Option<&Group> {
        match &self.find(tag)?.1.role {
            Role::Group(group) => Some(group),
            Role::Outbound { .. } | Role::Unsupported(_) => None,
        }
    }

    /// What a group leads to in the end; anything else is its own leaf. None in a loop
    /// and for a group without members.
    fn leaf(&self, mut index: usize, network: Network) -> Option<(usize, &Node)> {
        for _ in 0..=self.nodes.len() {
            let node = self.node(index)?;
            let Role::Group(group) = &node.role else {
                return Some((index, node));
            };
            index = group
                .selected(network)
                .or_else(|| group.first(|member| self.carries(member, network)))?;
        }
        None
    }

    fn carries(&self, index: usize, network: Network) -> bool {
        self.node(index).is_some_and(|node| {
            !matches!(node.role, Role::Unsupported(_)) && node.listed.networks.contains(&network)
        })
    }

    /// Dials, and is over by the deadline.
    async fn open(
        &self,
        tag: &str,
        target: &Target,
        deadline: Instant,
    ) -> Result<Dialed, FetchError> {
        let index = self.index(tag)?;
        let mut progress = Progress::new();
        let opened = timeout_at(deadline, Way::open(self, index, target, &mut progress)).await;
        match opened {
            Ok(stream) => Ok(Dialed {
                stream: stream?,
                dns: progress.dns,
            }),
            Err(_) => Err(progress.late()),
        }
    }

    /// Why `index` cannot be dialed by this core, if it cannot; detours included.
    fn unsupported(&self, mut index: usize) -> Option<String> {
        let mut through = None;
        for _ in 0..=self.nodes.len() {
            let (_, leaf) = self.leaf(index, Network::Tcp)?;
            match (&leaf.role, &through) {
                (Role::Unsupported(why), None) => return Some(why.clone()),
                (Role::Unsupported(why), Some(tag)) => {
                    return Some(format!("its detour `{tag}` cannot be dialed: {why}"));
                }
                (
                    Role::Outbound {
                        route: Route::Detour(detour),
                        ..
                    },
                    _,
                ) => {
                    through = Some(self.node(*detour)?.listed.tag.as_str());
                    index = *detour;
                }
                (Role::Outbound { .. } | Role::Group(_), _) => return None,
            }
        }
        None
    }
}

#[async_trait]
impl ProxyCore for NativeCore {
    fn list(&self) -> Vec<Outbound> {
        self.nodes.iter().map(|node| node.listed.clone()).collect()
    }

    fn selected(&self, group: &str, network: Network) -> Option<String> {
        let member = self.group(group)?.selected(network)?;
        Some(self.node(member)?.listed.tag.clone())
    }

    fn select(&self, group: &str, network: Network, member: &str) -> Result<(), SelectError> {
        let Some(found) = self.group(group) else {
            return Err(SelectError::NoSuchGroup(group.to_owned()));
        };
        match self.find(member) {
            Some((member, _)) if found.select(network, member) => Ok(()),
            _ => Err(SelectError::NotAMember {
                group: group.to_owned(),
                member: member.to_owned(),
            }),
        }
    }

    fn status(&self, tag: &str) -> Readiness {
        let Some((index, node)) = self.find(tag) else {
            return Readiness::Unsupported(format!("there is no outbound `{tag}`"));
        };
        if matches!(node.role, Role::Group(_)) {
            return Readiness::Ready;
        }
        self.unsupported(index)
            .map_or(Readiness::Ready, Readiness::Unsupported)
    }

    async fn dial(
        &self,
        tag: &str,
        target: &Target,
        deadline: Instant,
    ) -> Result<Dialed, FetchError> {
        self.open(tag, target, deadline).await
    }

    async fn associate(
        &self,
        tag: &str,
        deadline: Instant,
    ) -> Result<Box<dyn Datagrams>, FetchError> {
        let index = self.index(tag)?;
        let mut progress = Progress::new();
        let opened = timeout_at(deadline, Way::associate(self, index, &mut progress)).await;
        opened.unwrap_or_else(|_| Err(progress.late()))
    }

    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        let fetch = Fetch::begin(request, &self.trust)?;
        let dialed = self.open(tag, fetch.target(), fetch.deadline()).await?;
        fetch.over(dialed).await
    }
}
