//! What an engine leaves to the one that takes its place while their host lives on: all
//! of this run, where saved results hold the last successes alone. It must not know how
//! one is replaced by the other.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Cue, Monitor};
use crate::action::Level;
use crate::board::{Look, Urgency};
use crate::demand::Lane;
use crate::followup::Subject;
use crate::life::Stage;
use crate::record::Record;
use crate::report::{Ipv6Source, Reason, View};
use crate::saved;
use crate::timers::Timer;
use crate::topology::{Id, Switch};
use crate::{Instant, Now};

/// Grows when an engine could no longer make sense of what another leaves.
const VERSION: u32 = 1;

/// All that is left.
#[derive(Serialize, Deserialize)]
struct Estate<'a> {
    v: u32,
    started: Instant,
    revision: u64,
    /// The test address in use (C-4).
    url: Option<Cow<'a, str>>,
    /// When testing stops (N-1); absent if it has.
    idle_at: Option<Instant>,
    /// When the next cycle begins, if one is to.
    cycle_at: Option<Instant>,
    /// A cycle runs or has been asked for.
    cycle_runs: bool,
    /// Why and when all is tested again, if the network has not settled (E-4).
    unsettled: Option<(Reason, Instant)>,
    entries: Vec<Left<'a>>,
    groups: Vec<Group<'a>>,
}

/// What is left of an outbound, under the key of its saved result (P-2).
#[derive(Serialize, Deserialize)]
struct Left<'a> {
    key: Cow<'a, str>,
    record: Cow<'a, Record>,
    due_at: Instant,
    /// A test that ran or was to run.
    test: Option<(Reason, Lane)>,
    follow_ups: Vec<Subject>,
}

/// What a group showed.
#[derive(Serialize, Deserialize)]
struct Group<'a> {
    tag: Cow<'a, str>,
    selected: Option<Cow<'a, str>>,
    via: Option<Cow<'a, str>>,
    revision: u64,
    shown_revision: u64,
}

impl Monitor {
    /// All that is known of this run, for the engine that takes over: results, the last
    /// measurements, the test address, what is known of IPv6, and what is to be tested.
    /// Meant for a monitor that has stopped; its form is the engine's own.
    pub fn hand_over(&self) -> Vec<u8> {
        let estate = Estate {
            v: VERSION,
            started: self.life.started(),
            revision: self.board.revision(),
            url: self.urls.settled().map(Cow::Borrowed),
            idle_at: self.timers.at(Timer::Idle).filter(|_| !self.life.is_idle()),
            cycle_at: self.timers.at(Timer::Cycle),
            cycle_runs: self.cycle.is_running() || self.cycle.is_requested(),
            unsettled: self.life.unsettled().zip(self.timers.at(Timer::Network)),
            entries: self.entries_left(),
            groups: self.groups_left(),
        };
        // It holds nothing that JSON does not.
        serde_json::to_vec(&estate).unwrap_or_default()
    }

    /// Goes on where another engine stopped. Outbounds that are of another server now
    /// inherit nothing. Before the first [`step`](Self::step), with the clock that the
    /// other had; revisions go on growing.
    ///
    /// # Errors
    /// With a text for people, when this engine cannot read what the other left, or runs
    /// already. Nothing has changed then.
    pub fn take_over(&mut self, estate: &[u8], now: Now) -> Result<(), String> {
        if self.life.stage() != Stage::New {
            return Err(String::from("it runs already"));
        }
        let estate: Estate<'_> = serde_json::from_slice(estate)
            .map_err(|error| format!("it is not of the form that this engine knows: {error}"))?;
        if estate.v != VERSION {
            let v = estate.v;
            return Err(format!(
                "it is of the form {v}, this engine knows {VERSION}"
            ));
        }
        self.now = now;
        self.life.go_on(estate.started);
        self.board.go_on(estate.revision);
        if let Some(url) = &estate.url {
            self.urls.choose(url);
        }
        self.take_entries(estate.entries);
        self.take_groups(estate.groups);
        match estate.idle_at {
            Some(at) => self.timers.set(Timer::Idle, at),
            None => {
                self.life.fall_idle();
            }
        }
        if let Some(at) = estate.cycle_at {
            self.timers.set(Timer::Cycle, at);
        }
        if estate.cycle_runs {
            self.cues.push(Cue::Cycle(Reason::Reload));
        }
        if let Some((reason, settles_at)) = estate.unsettled {
            self.life.unsettle(reason);
            self.timers.set(Timer::Network, settles_at);
        }
        self.log(self.journal.line(Level::Info, "took_over"));
        Ok(())
    }

    fn entries_left(&self) -> Vec<Left<'_>> {
        let mut follow_ups: BTreeMap<Id, Vec<Subject>> = BTreeMap::new();
        for (id, subject) in self.follow_ups.open() {
            follow_ups.entry(id).or_default().push(subject);
        }
        let entries = self.topology.order().iter();
        entries
            .filter(|&&id| !self.topology.is_group(id))
            .map(|&id| Left {
                key: Cow::Owned(self.key(id)),
                record: Cow::Borrowed(self.board.get(id)),
                due_at: self.cycle.due_at(id),
                test: self.demand.get(id).map(|want| (want.reason, want.lane)),
                follow_ups: follow_ups.remove(&id).unwrap_or_default(),
            })
            .collect()
    }

    fn groups_left(&self) -> Vec<Group<'_>> {
        let groups = self.topology.order().iter();
        groups
            .filter(|&&id| self.topology.is_group(id))
            .map(|&id| {
                let look = self.board.look(id);
                let tag = |id| Cow::Borrowed(self.topology.tag(id));
                Group {
                    tag: tag(id),
                    selected: self.topology.get(id).selected.map(tag),
                    via: look.via.map(tag),
                    revision: look.revision,
                    shown_revision: look.shown_revision,
                }
            })
            .collect()
    }

    fn take_entries(&mut self, entries: Vec<Left<'_>>) {
        let ids = self.topology.order().iter();
        let mut heirs: BTreeMap<String, Id> = ids
            .filter(|&&id| !self.topology.is_group(id))
            .map(|&id| (self.key(id), id))
            .collect();
        for left in entries {
            let Some(id) = heirs.remove(&*left.key) else {
                continue;
            };
            let declared = self.board.get(id).ipv6;
            let record = self.board.edit(id);
            *record = left.record.into_owned();
            record.ip_pending = left.follow_ups.contains(&Subject::Ip);
            // V-1
            if let Some((_, Ipv6Source::Declared)) = declared {
                record.ipv6 = declared;
            }
            self.cycle.set_due(id, left.due_at);
            if let Some((reason, lane)) = left.test {
                self.cues.push(Cue::Again(id, reason, lane));
            }
            for subject in left.follow_ups {
                self.follow_ups.want(id, subject);
            }
        }
        // The core got these while nobody looked.
        for &id in heirs.values() {
            self.board.touch(id, View::Confirmed, Urgency::Debounced);
        }
        if heirs.values().any(|&id| self.topology.is_testable(id)) {
            self.cues.push(Cue::Cycle(Reason::Reload));
        }
    }

    fn take_groups(&mut self, groups: Vec<Group<'_>>) {
        let mut known = BTreeSet::new();
        for group in groups {
            let id = self.topology.find(&group.tag);
            if let Some(id) = id.filter(|&id| self.topology.is_group(id)) {
                let look = Look {
                    via: group.via.and_then(|via| self.topology.find(&via)),
                    revision: group.revision,
                    shown_revision: group.shown_revision,
                };
                self.board.wear(id, look);
                known.insert(id);
                // E-1: it selected another meanwhile.
                let selected = self.topology.get(id).selected;
                if selected.map(|id| self.topology.tag(id)) != group.selected.as_deref() {
                    let switch = Switch {
                        tcp: true,
                        udp: false,
                    };
                    self.cues.push(Cue::Switched(id, switch));
                }
            }
        }
        for &id in self.topology.order() {
            if self.topology.is_group(id) && !known.contains(&id) {
                self.board.touch(id, View::Confirmed, Urgency::Debounced);
            }
        }
        self.board.look_at_groups(&self.topology);
    }

    fn key(&self, id: Id) -> String {
        let entry = self.topology.get(id);
        saved::key(&entry.fingerprint, &entry.tag)
    }
}
