//! Results that outlive the run (P): what is loaded, what is to be written, what is
//! dropped. It must not know where pairs are kept.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::board::Board;
use crate::record::Record;
use crate::topology::{Id, Topology};

mod format;

pub(crate) use format::key;

/// How long entries of tags that are gone are kept (P-2), in milliseconds.
const KEPT_FOR_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// How many of them at most.
const KEPT_AT_MOST: usize = 10_000;

/// The saved pairs, as far as they differ from the board.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    /// Pairs of outbounds that are not in the core: when saved, and the value.
    gone: BTreeMap<String, (u64, Vec<u8>)>,
    /// Outbounds whose saved pair is out of date.
    dirty: BTreeSet<Id>,
    /// Keys to remove and pairs to write beside these.
    delete: BTreeSet<String>,
    set: BTreeMap<String, Vec<u8>>,
    due: bool,
}

/// One change set.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) delete: Vec<String>,
    pub(crate) set: Vec<(String, Vec<u8>)>,
}

impl Saved {
    /// Takes all saved pairs; gives what is odd about them.
    pub(crate) fn load(&mut self, pairs: Vec<(String, Vec<u8>)>) -> Vec<String> {
        let (mut newer, mut broken) = (0u32, 0u32);
        for (key, value) in pairs {
            match format::saved_at(&value) {
                Ok(saved_at) => {
                    self.gone.insert(key, (saved_at, value));
                }
                // Left alone: it is of use to whoever wrote it.
                Err(format::Unreadable::Newer) => newer += 1,
                Err(format::Unreadable::Broken) => {
                    broken += 1;
                    self.delete.insert(key);
                }
            }
        }
        let mut problems = Vec::new();
        if newer > 0 {
            reached!("a newer saved result is left alone");
            problems.push(format!(
                "{newer} saved results are of a newer version of Outwatch and are not used"
            ));
        }
        if broken > 0 {
            reached!("a broken saved result is removed");
            problems.push(format!(
                "{broken} saved results are unreadable and are removed"
            ));
        }
        problems
    }

    /// Fills a new outbound's record from its saved pair (P-1).
    pub(crate) fn restore(&mut self, topology: &Topology, id: Id, record: &mut Record) {
        if topology.is_testable(id)
            && let Some((_, value)) = self.gone.remove(&key_of(topology, id))
        {
            reached!("a saved result is loaded");
            format::decode(&value, record);
        }
    }

    /// An outbound leaves the core, or its tag goes to another server: its pair is
    /// kept under the old key for a while.
    pub(crate) fn retire(&mut self, key: String, id: Id, record: &Record, wall_ms: u64) {
        let unsaved = self.dirty.remove(&id);
        if let Some(value) = format::encode(record, wall_ms) {
            if unsaved {
                self.delete.remove(&key);
                self.set.insert(key.clone(), value.clone());
            }
            reached!("the result of one that goes is kept");
            self.gone.insert(key, (wall_ms, value));
        }
    }

    /// What is saved of an outbound has changed.
    pub(crate) fn touch(&mut self, id: Id) {
        self.dirty.insert(id);
    }

    /// Everything unsaved is to be written in this step.
    pub(crate) fn call(&mut self) {
        self.due = true;
    }

    /// The change set, if one is due and not empty.
    pub(crate) fn take(
        &mut self,
        topology: &Topology,
        board: &Board,
        wall_ms: u64,
    ) -> Option<Write> {
        if !core::mem::take(&mut self.due) {
            return None;
        }
        self.prune(wall_ms);
        // Keys of those that are there differ: they need no map, which compares many.
        let mut set = Vec::with_capacity(self.dirty.len() + self.set.len());
        for id in core::mem::take(&mut self.dirty) {
            if let Some(value) = format::encode(board.get(id), wall_ms) {
                let key = key_of(topology, id);
                self.delete.remove(&key);
                self.set.remove(&key);
                set.push((key, value));
            }
        }
        set.extend(core::mem::take(&mut self.set));
        let write = Write {
            delete: core::mem::take(&mut self.delete).into_iter().collect(),
            set,
        };
        (!write.delete.is_empty() || !write.set.is_empty()).then_some(write)
    }

    /// P-2
    fn prune(&mut self, wall_ms: u64) {
        let old = |saved_at: u64| wall_ms.saturating_sub(saved_at) > KEPT_FOR_MS;
        let mut drop: Vec<String> = self
            .gone
            .iter()
            .filter(|(_, (at, _))| old(*at))
            .map(|(key, _)| key.clone())
            .collect();
        let kept = self.gone.len() - drop.len();
        if let Some(too_many) = kept.checked_sub(KEPT_AT_MOST).filter(|&count| count > 0) {
            let mut by_age: Vec<(u64, &String)> = self
                .gone
                .iter()
                .filter(|(_, (at, _))| !old(*at))
                .map(|(key, (at, _))| (*at, key))
                .collect();
            by_age.sort_unstable();
            drop.extend(
                by_age
                    .into_iter()
                    .take(too_many)
                    .map(|(_, key)| key.clone()),
            );
        }
        for key in drop {
            reached!("an old result of one that is gone is dropped");
            self.gone.remove(&key);
            self.set.remove(&key);
            self.delete.insert(key);
        }
    }
}

fn key_of(topology: &Topology, id: Id) -> String {
    let entry = topology.get(id);
    key(&entry.fingerprint, &entry.tag)
}
