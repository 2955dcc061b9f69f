//! Groups that choose: by the results of a monitor each decides to which member its
//! connections go. It must not know how a member is dialed or tested.
//!
//! A group is a view of results, as any subscriber has it:
//!
//! ```no_run
//! # async fn example(core: impl outwatch::ProxyCore) -> Result<(), outwatch::StartError> {
//! use std::sync::Arc;
//! use outwatch::group::{GroupPlan, Groups, Policy};
//! use outwatch::{MemoryCache, Monitor};
//!
//! let core = Arc::new(core);
//! let plan = GroupPlan::new("auto", Policy::LowestDelay { tolerance_ms: 50 });
//! let groups = Groups::new(core.clone(), [plan], Arc::new(MemoryCache::default()));
//! let monitor = Monitor::builder(core).start().await?;
//! groups.keep(&monitor).await; // until the monitor ends
//! # Ok(())
//! # }
//! ```

mod line;
mod lowest;
mod policy;
mod saved;
mod spread;
mod standing;
mod state;
mod status;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::monitor::Monitor;
use crate::proxy_core::{Network, Outbound, ProxyCore, SelectError};
use crate::report::{Report, Scope, View};
use crate::store::Cache;

pub use policy::{GroupPlan, Policy};
pub use spread::Flow;
pub use status::{Decision, GroupStatus};

use saved::Saved;
use state::State;

const NETWORKS: [Network; 2] = [Network::Tcp, Network::Udp];

/// The groups of one core. Cheap to clone.
#[derive(Clone)]
pub struct Groups {
    shared: Arc<Shared>,
}

struct Shared {
    core: Arc<dyn ProxyCore>,
    cache: Arc<dyn Cache>,
    groups: BTreeMap<Arc<str>, Mutex<State>>,
    /// In which groups an outbound or group is which member, in the order of their tags.
    memberships: Vec<Membership>,
    /// Changes whenever a group may stand otherwise than before.
    changes: watch::Sender<()>,
}

/// That an outbound or group is a member of a group.
struct Membership {
    tag: Arc<str>,
    group: Arc<str>,
    /// Its place among the members.
    nth: usize,
}

/// The outbound that a connection is to go through.
#[derive(Clone, Debug)]
pub struct Pick {
    /// The outbound to dial.
    pub tag: String,
    /// The groups that led to it, the outermost first; empty for an outbound by itself.
    pub groups: Vec<String>,
    /// How many others may be tried if it cannot be dialed (G-7).
    pub retries: u32,
    /// When one of these is cancelled, the connection is to be ended
    /// (`interrupt_exist_connections`).
    pub cuts: Vec<CancellationToken>,
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tags = self.shared.groups.keys();
        f.debug_set().entries(tags).finish()
    }
}

impl Groups {
    /// Groups of a core, which is told at once where they lead: where they led when that
    /// was last saved in `cache`, else to their default, else to their first member. A
    /// plan for what is no group of the core is left out.
    pub fn new(
        core: Arc<dyn ProxyCore>,
        plans: impl IntoIterator<Item = GroupPlan>,
        cache: Arc<dyn Cache>,
    ) -> Self {
        Self::built(core, plans, cache, |_| {})
    }

    /// The groups of a core that takes the place of this one, or of this one after its
    /// outbounds changed. A group that was there before leads where it led, if it still
    /// can, and knows its members' results; a selector leads where it would after a start.
    /// Connections made through what a group led to are then made through the new one. Drop
    /// what [`keep`](Self::keep) these groups up before.
    #[must_use]
    pub fn renewed(
        &self,
        core: Arc<dyn ProxyCore>,
        plans: impl IntoIterator<Item = GroupPlan>,
    ) -> Self {
        Self::built(core, plans, self.shared.cache.clone(), |state| {
            if let Some(before) = self.shared.state(&state.plan.tag) {
                state.take_over(&mut lock(before));
            }
        })
    }

    /// Each group begins as saved, and then as `begin` has it.
    fn built(
        core: Arc<dyn ProxyCore>,
        plans: impl IntoIterator<Item = GroupPlan>,
        cache: Arc<dyn Cache>,
        begin: impl Fn(&mut State),
    ) -> Self {
        let listed = core.list();
        let by_tag: HashMap<&str, &Outbound> =
            listed.iter().map(|one| (one.tag.as_str(), one)).collect();
        let mut groups = BTreeMap::new();
        let mut memberships = Vec::new();
        for plan in plans {
            let Some(group) = by_tag.get(plan.tag.as_str()) else {
                continue;
            };
            let members = group.members.iter();
            let members = members.filter_map(|tag| by_tag.get(tag.as_str()).copied());
            let tag: Arc<str> = plan.tag.as_str().into();
            let mut state = State::new(plan, members);
            let saved = Saved::load(&*cache, &tag);
            for (network, saved) in [(Network::Tcp, saved.tcp), (Network::Udp, saved.udp)] {
                state.begin(network, saved.as_deref());
            }
            begin(&mut state);
            for (nth, member) in state.tags().enumerate() {
                memberships.push(Membership {
                    tag: member.clone(),
                    group: tag.clone(),
                    nth,
                });
            }
            groups.insert(tag, Mutex::new(state));
        }
        memberships.sort_by(|a, b| a.tag.cmp(&b.tag));
        memberships.shrink_to_fit();
        let shared = Shared {
            core,
            cache,
            groups,
            memberships,
            changes: watch::Sender::new(()),
        };
        for group in shared.groups.values() {
            shared.tell_core(&lock(group));
        }
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Follows a monitor's confirmed results, and tells it of every group that leads
    /// elsewhere, until it ends.
    pub async fn keep(&self, monitor: &Monitor) {
        let mut updates = monitor.subscribe(Scope::All, View::Confirmed);
        while let Some(update) = updates.next().await {
            for group in self.observe(&update.reports) {
                monitor.selection_changed(group);
            }
        }
    }

    /// Takes newer confirmed reports; gives the groups that lead elsewhere now, of which
    /// the core knows already. [`keep`](Self::keep) is made of it.
    pub fn observe(&self, reports: &[Report]) -> BTreeSet<String> {
        let mut concerned = BTreeSet::new();
        for report in reports {
            for Membership { group, nth, .. } in self.shared.memberships(&report.tag) {
                if let Some(state) = self.shared.state(group) {
                    lock(state).take(*nth, report);
                    concerned.insert(group);
                }
            }
        }
        let may_stand_otherwise = !concerned.is_empty();
        concerned.retain(|group| self.shared.decide(group));
        if may_stand_otherwise {
            self.shared.changes.send_replace(());
        }
        concerned.into_iter().map(|tag| tag.to_string()).collect()
    }

    /// How a group stands; none if there is no such group.
    pub fn status(&self, group: &str) -> Option<GroupStatus> {
        let state = self.shared.state(group)?;
        Some(GroupStatus::of(&lock(state)))
    }

    /// How each group stands, by tag.
    pub fn statuses(&self) -> Vec<GroupStatus> {
        let states = self.shared.groups.values();
        states.map(|state| GroupStatus::of(&lock(state))).collect()
    }

    /// Changes whenever a group may stand otherwise than before.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.shared.changes.subscribe()
    }

    /// A person chooses a member of a selector, for all traffic; it is saved (G-1). Tell
    /// the monitor by its hook `selection_changed`.
    ///
    /// # Errors
    /// No such group, no such member, or the group chooses by itself.
    pub fn select(&self, group: &str, member: &str) -> Result<(), SelectError> {
        let Some(state) = self.shared.state(group) else {
            return Err(SelectError::NoSuchGroup(group.to_owned()));
        };
        let mut state = lock(state);
        if state.plan.policy != Policy::Selected {
            return Err(SelectError::Fixed(group.to_owned()));
        }
        let Some(chosen) = state.find(member) else {
            return Err(SelectError::NotAMember {
                group: group.to_owned(),
                member: member.to_owned(),
            });
        };
        for network in NETWORKS {
            state.turn_to(network, chosen);
        }
        self.shared.tell_core(&state);
        self.shared.save(&state);
        drop(state);
        self.shared.changes.send_replace(());
        Ok(())
    }

    /// The outbound for a new connection to `tag`, be it a group or not. None if that
    /// leads to nothing but outbounds that were `tried`, or nowhere at all.
    pub fn pick(
        &self,
        tag: &str,
        network: Network,
        flow: Flow<'_>,
        tried: &BTreeSet<String>,
    ) -> Option<Pick> {
        let mut above = BTreeSet::new();
        let found = self.shared.pick(tag, network, flow, tried, &mut above);
        found.map(|found| found.pick)
    }
}

impl Shared {
    fn state(&self, group: &str) -> Option<&Mutex<State>> {
        self.groups.get(group)
    }

    /// Of what an outbound or group is a member.
    fn memberships(&self, tag: &str) -> impl Iterator<Item = &Membership> {
        let first = self.memberships.partition_point(|it| *it.tag < *tag);
        let rest = self.memberships.get(first..).unwrap_or_default();
        rest.iter().take_while(move |it| *it.tag == *tag)
    }

    /// Lets a group decide; says whether it leads elsewhere now.
    fn decide(&self, group: &str) -> bool {
        let Some(state) = self.state(group) else {
            return false;
        };
        let mut state = lock(state);
        let mut moved = false;
        for network in NETWORKS {
            let Some((decision, news)) = state.decide(network) else {
                continue;
            };
            if news {
                info!("{}", line::line(&state, network, decision));
            }
            moved |= state.turn_to(network, decision.member);
        }
        if moved {
            self.tell_core(&state);
            self.save(&state);
        }
        moved
    }

    /// A core that decides for itself where its groups lead is left alone.
    fn tell_core(&self, state: &State) {
        for network in NETWORKS {
            if let Some(member) = state.lead(network) {
                let told = self
                    .core
                    .select(&state.plan.tag, network, state.tag(member));
                if let Err(error) = told {
                    tracing::debug!("the core does not follow: {error}");
                }
            }
        }
    }

    fn save(&self, state: &State) {
        let tag = |network| Some(state.tag(state.lead(network)?).to_owned());
        let saved = Saved {
            tcp: tag(Network::Tcp),
            udp: tag(Network::Udp),
        };
        saved.store(&*self.cache, &state.plan.tag);
    }

    /// `above` are the groups that led here: none leads to itself.
    fn pick(
        &self,
        tag: &str,
        network: Network,
        flow: Flow<'_>,
        tried: &BTreeSet<String>,
        above: &mut BTreeSet<String>,
    ) -> Option<Found> {
        let Some(state) = self.state(tag) else {
            let pick = Pick {
                tag: tag.to_owned(),
                groups: Vec::new(),
                retries: 0,
                cuts: Vec::new(),
            };
            return (!tried.contains(tag)).then_some(Found { pick, lives: true });
        };
        if !above.insert(tag.to_owned()) {
            return None;
        }
        let mut shut = BTreeSet::new();
        let mut dead = None;
        let found = loop {
            let choice = lock(state).choice(network, flow, |member| shut.contains(&member));
            let Some(choice) = choice else {
                break dead;
            };
            if let Some(mut found) = self.pick(&choice.tag, network, flow, tried, above) {
                let pick = &mut found.pick;
                pick.groups.insert(0, tag.to_owned());
                pick.retries = pick.retries.max(choice.retries);
                pick.cuts.extend(choice.cut);
                // A group lives by a member that was tried already; what is left of it is
                // dead, and taken only where nothing else lives (G-6).
                if found.lives || !choice.lives {
                    found.lives &= choice.lives;
                    break Some(found);
                }
                dead = dead.or(Some(found));
            }
            shut.insert(choice.member);
        };
        above.remove(tag);
        found
    }
}

/// A pick, and whether all that led to it lives.
struct Found {
    pick: Pick,
    lives: bool,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
