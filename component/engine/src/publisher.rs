//! Who is told what and when: subscribers, their debounce windows and what
//! they have not seen. It must not know what a report holds.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::SubscriberId;
use crate::board::{Change, Urgency};
use crate::input::{Filter, Scope};
use crate::report::View;
use crate::topology::{Id, Topology};

/// All subscribers.
#[derive(Debug, Default)]
pub(crate) struct Publisher {
    subscribers: BTreeMap<SubscriberId, Subscriber>,
    /// Who wants all, one entry, or a group with its members.
    all: BTreeSet<SubscriberId>,
    by_tag: BTreeMap<Id, BTreeSet<SubscriberId>>,
    by_group: BTreeMap<Id, BTreeSet<SubscriberId>>,
    /// Those who may be told something in this step.
    ready: BTreeSet<SubscriberId>,
}

#[derive(Debug)]
struct Subscriber {
    filter: Filter,
    /// What changed since its last update; bounded by what there is.
    dirty: BTreeSet<Id>,
    removed: BTreeSet<Arc<str>>,
    urgency: Urgency,
    /// Its window is open: nothing yet, unless it is urgent.
    window_open: bool,
    /// It has not taken its last update.
    in_flight: bool,
}

/// Numbers in the scope of each subscriber.
pub(crate) type Scopes = BTreeMap<SubscriberId, BTreeSet<Id>>;

/// What one subscriber is told.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) subscriber: SubscriberId,
    pub(crate) view: View,
    pub(crate) dirty: BTreeSet<Id>,
    pub(crate) removed: Vec<String>,
    pub(crate) urgent: bool,
}

impl Publisher {
    /// A new subscriber is told at once how everything in its scope stands.
    pub(crate) fn subscribe(&mut self, id: SubscriberId, filter: Filter, topology: &Topology) {
        self.unsubscribe(id);
        let subscriber = Subscriber {
            dirty: in_scope(&filter.scope, topology),
            filter,
            removed: BTreeSet::new(),
            urgency: Urgency::AtOnce,
            window_open: false,
            in_flight: false,
        };
        self.subscribers.insert(id, subscriber);
        self.enlist(id, topology);
        self.ready.insert(id);
    }

    pub(crate) fn unsubscribe(&mut self, id: SubscriberId) {
        self.subscribers.remove(&id);
        self.ready.remove(&id);
        self.all.remove(&id);
        for index in [&mut self.by_tag, &mut self.by_group] {
            index.retain(|_, who| {
                who.remove(&id);
                !who.is_empty()
            });
        }
    }

    pub(crate) fn taken(&mut self, id: SubscriberId) {
        if let Some(subscriber) = self.subscribers.get_mut(&id) {
            subscriber.in_flight = false;
            self.ready.insert(id);
        }
    }

    pub(crate) fn window_closed(&mut self, id: SubscriberId) {
        if let Some(subscriber) = self.subscribers.get_mut(&id) {
            subscriber.window_open = false;
            self.ready.insert(id);
        }
    }

    /// Notes a change for all it concerns; gives those whose window it opens.
    pub(crate) fn note(&mut self, change: Change, topology: &Topology) -> Vec<SubscriberId> {
        let groups = topology.groups_above(change.id).iter().chain([&change.id]);
        let of_groups = groups.filter_map(|group| self.by_group.get(group));
        let of_tag = self.by_tag.get(&change.id);
        let concerned = [&self.all].into_iter().chain(of_tag).chain(of_groups);
        let mut opened = Vec::new();
        for &id in concerned.flatten() {
            let Some(subscriber) = self.subscribers.get_mut(&id) else {
                continue;
            };
            if subscriber.filter.view == View::Confirmed && change.view == View::Display {
                continue;
            }
            subscriber.removed.remove(topology.tag(change.id));
            if subscriber.note(change.id, change.urgency) {
                opened.push(id);
            }
            self.ready.insert(id);
        }
        opened
    }

    /// What is in whose scope, to be compared after a change of the outbounds.
    pub(crate) fn scopes(&self, topology: &Topology) -> Scopes {
        let scope = |subscriber: &Subscriber| in_scope(&subscriber.filter.scope, topology);
        self.subscribers
            .iter()
            .map(|(&id, subscriber)| (id, scope(subscriber)))
            .collect()
    }

    /// Notes what came into whose scope and what is gone from the core; gives those
    /// whose window it opens.
    pub(crate) fn rescope(
        &mut self,
        before: Scopes,
        gone: &BTreeMap<Id, Arc<str>>,
        topology: &Topology,
    ) -> Vec<SubscriberId> {
        self.all.clear();
        self.by_tag.clear();
        self.by_group.clear();
        let mut opened = Vec::new();
        for (id, before) in before {
            self.enlist(id, topology);
            let Some(subscriber) = self.subscribers.get_mut(&id) else {
                continue;
            };
            reached!("the outbounds change while somebody listens");
            // A number that went may stand for another tag by the next change.
            subscriber.dirty.retain(|number| !gone.contains_key(number));
            let lost = before.iter().filter_map(|number| gone.get(number));
            subscriber.removed.extend(lost.cloned());
            let scope = in_scope(&subscriber.filter.scope, topology);
            subscriber.dirty.extend(scope.difference(&before));
            if !subscriber.is_content() && subscriber.open_window() {
                opened.push(id);
            }
            self.ready.insert(id);
        }
        opened
    }

    /// What is to be told now.
    pub(crate) fn take_due(&mut self) -> Vec<Batch> {
        let ready = core::mem::take(&mut self.ready);
        ready
            .into_iter()
            .filter_map(|id| self.take_batch(id))
            .collect()
    }

    /// What is to be told at the end, without waiting for any window.
    pub(crate) fn take_all(&mut self) -> Vec<Batch> {
        let ids: Vec<SubscriberId> = self.subscribers.keys().copied().collect();
        for &id in &ids {
            self.window_closed(id);
        }
        self.take_due()
    }

    fn take_batch(&mut self, id: SubscriberId) -> Option<Batch> {
        let subscriber = self.subscribers.get_mut(&id)?;
        let waits = subscriber.window_open && subscriber.urgency == Urgency::Debounced;
        if subscriber.is_content() || waits || subscriber.in_flight {
            return None;
        }
        subscriber.in_flight = true;
        subscriber.window_open = false;
        let urgency = core::mem::replace(&mut subscriber.urgency, Urgency::Debounced);
        let removed = core::mem::take(&mut subscriber.removed);
        Some(Batch {
            subscriber: id,
            view: subscriber.filter.view,
            dirty: core::mem::take(&mut subscriber.dirty),
            removed: removed.iter().map(|tag| String::from(&**tag)).collect(),
            urgent: urgency == Urgency::AtOnce,
        })
    }

    fn enlist(&mut self, id: SubscriberId, topology: &Topology) {
        let Some(subscriber) = self.subscribers.get(&id) else {
            return;
        };
        let (index, tag) = match &subscriber.filter.scope {
            Scope::All => {
                self.all.insert(id);
                return;
            }
            Scope::Tag(tag) => (&mut self.by_tag, tag),
            Scope::Group(tag) => (&mut self.by_group, tag),
        };
        if let Some(number) = topology.find(tag) {
            index.entry(number).or_default().insert(id);
        }
    }
}

impl Subscriber {
    /// Says whether a window opens.
    fn note(&mut self, id: Id, urgency: Urgency) -> bool {
        self.dirty.insert(id);
        self.urgency = self.urgency.max(urgency);
        self.urgency == Urgency::Debounced && self.open_window()
    }

    /// It knows all there is to know.
    fn is_content(&self) -> bool {
        self.dirty.is_empty() && self.removed.is_empty()
    }

    fn open_window(&mut self) -> bool {
        !core::mem::replace(&mut self.window_open, true)
    }
}

fn in_scope(scope: &Scope, topology: &Topology) -> BTreeSet<Id> {
    match scope {
        Scope::All => topology.order().iter().copied().collect(),
        Scope::Tag(tag) => topology.find(tag).into_iter().collect(),
        Scope::Group(tag) => topology
            .find(tag)
            .map(|id| topology.within(id).collect())
            .unwrap_or_default(),
    }
}
