//! What follows a test that answered, in a pool of its own (T-9): IP lookups (I) and
//! the IPv6 check (V). It must not know what the answers mean to the board.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use crate::services::{LAST_RESORT, ROUND};
use crate::topology::Id;
use crate::{Instant, ProbeId};

/// How long a service that gave no time is left alone after a 429 (I-7).
const DEFAULT_REST: Duration = Duration::from_secs(60);
/// The longest such time.
const LONGEST_REST: Duration = Duration::from_secs(3600);

/// What is to be learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Ip,
    Ipv6,
}

/// One that runs.
#[derive(Clone, Debug)]
pub(crate) struct FollowUp {
    pub(crate) subject: Subject,
    /// The result it belongs to, by the time of that (T-8).
    pub(crate) of: Instant,
    /// The network it started in.
    pub(crate) generation: u32,
    pub(crate) probe: Option<ProbeId>,
    /// Services asked so far, of the user's, the round and the last resort.
    asked: usize,
    /// Where the round begins.
    first: usize,
    /// The service being asked.
    pub(crate) service: &'static str,
    pub(crate) url: Arc<str>,
}

/// What is queued and what runs; at most one follow-up per outbound at once.
#[derive(Debug, Default)]
pub(crate) struct FollowUps {
    queue: VecDeque<(Id, Subject)>,
    queued: BTreeSet<(Id, Subject)>,
    /// Those whose detour is being tested (D-2).
    held: BTreeSet<(Id, Subject)>,
    running: BTreeMap<Id, FollowUp>,
    /// I-7: services that an outbound's exit has asked too often.
    resting: BTreeMap<(Id, &'static str), Instant>,
    random: u64,
}

impl FollowUps {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: seed,
            ..Self::default()
        }
    }

    pub(crate) fn want(&mut self, id: Id, subject: Subject) {
        if !self.concerns(id, subject) {
            self.queued.insert((id, subject));
            self.queue.push_back((id, subject));
        }
    }

    /// Whether one about this is queued or runs.
    pub(crate) fn concerns(&self, id: Id, subject: Subject) -> bool {
        let runs = self
            .running
            .get(&id)
            .is_some_and(|running| running.subject == subject);
        runs || self.queued.contains(&(id, subject)) || self.held.contains(&(id, subject))
    }

    pub(crate) fn busy(&self) -> usize {
        self.running.len()
    }

    /// The next in the queue whose outbound has none running. Each is looked at
    /// once; those that cannot start stay in order.
    pub(crate) fn pop(&mut self) -> Option<(Id, Subject)> {
        let at = self
            .queue
            .iter()
            .position(|(id, _)| !self.running.contains_key(id))?;
        let next = self.queue.remove(at)?;
        self.queued.remove(&next);
        Some(next)
    }

    /// Puts one aside until its detour has been tested.
    pub(crate) fn hold(&mut self, id: Id, subject: Subject) {
        self.held.insert((id, subject));
    }

    /// Queues what was put aside of an outbound.
    pub(crate) fn release(&mut self, id: Id) {
        for subject in [Subject::Ip, Subject::Ipv6] {
            if self.held.remove(&(id, subject)) {
                self.want(id, subject);
            }
        }
    }

    /// Queues all that was put aside.
    pub(crate) fn release_all(&mut self) {
        for (id, subject) in core::mem::take(&mut self.held) {
            self.want(id, subject);
        }
    }

    /// Begins one, without a probe.
    pub(crate) fn begin(&mut self, id: Id, subject: Subject, of: Instant, generation: u32) {
        let first = self.draw(ROUND.len());
        let follow_up = FollowUp {
            subject,
            of,
            generation,
            probe: None,
            asked: 0,
            first,
            service: "",
            url: Arc::from(""),
        };
        self.running.insert(id, follow_up);
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut FollowUp> {
        self.running.get_mut(&id)
    }

    pub(crate) fn end(&mut self, id: Id) -> Option<FollowUp> {
        self.running.remove(&id)
    }

    /// The service that a lookup asks next (I-1), without those that rest (I-7).
    pub(crate) fn next_service(
        &mut self,
        id: Id,
        own: Option<&str>,
        now: Instant,
    ) -> Option<String> {
        self.resting
            .retain(|&(of, _), &mut until| of != id || until > now);
        let lookup = self.running.get_mut(&id)?;
        loop {
            let step = lookup.asked;
            lookup.asked += 1;
            let (service, url) = match (step, own) {
                (0, Some(own)) => (OWN, String::from(own)),
                (0, None) => continue,
                (step, _) => {
                    let service = service(step - 1, lookup.first)?;
                    (service.host, String::from(service.url))
                }
            };
            if !self.resting.contains_key(&(id, service)) {
                lookup.service = service;
                lookup.url = Arc::from(url.as_str());
                return Some(url);
            }
        }
    }

    /// I-7: leaves the service asked alone for the time it gave in seconds.
    pub(crate) fn rest(&mut self, id: Id, retry_after: Option<&str>, now: Instant) {
        let given = retry_after
            .and_then(|text| text.trim().parse().ok())
            .map(Duration::from_secs);
        let until = now + given.unwrap_or(DEFAULT_REST).min(LONGEST_REST);
        if let Some(lookup) = self.running.get(&id) {
            self.resting.insert((id, lookup.service), until);
        }
    }

    /// N-1: what has not started is dropped; says what it was.
    pub(crate) fn clear_queue(&mut self) -> BTreeSet<(Id, Subject)> {
        self.queue.clear();
        let mut dropped = core::mem::take(&mut self.queued);
        dropped.append(&mut self.held);
        dropped
    }

    /// An outbound is gone; gives the probe that is out for it.
    pub(crate) fn forget(&mut self, id: Id) -> Option<ProbeId> {
        self.queue.retain(|&(of, _)| of != id);
        self.queued.retain(|&(of, _)| of != id);
        self.held.retain(|&(of, _)| of != id);
        self.resting.retain(|&(of, _), _| of != id);
        self.running.remove(&id)?.probe
    }

    /// A number below `bound`, by splitmix64.
    fn draw(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).unwrap_or_default()
    }
}

/// Stands for the service of `ipinfo_url`.
const OWN: &str = "";

fn service(step: usize, first: usize) -> Option<crate::services::Service> {
    match step.checked_sub(ROUND.len()) {
        None => ROUND.get((first + step) % ROUND.len()).copied(),
        Some(late) => LAST_RESORT.get(late).copied(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn order(own: Option<&str>, seed: u64) -> Vec<String> {
        let mut pool = FollowUps::new(seed);
        pool.begin(Id(0), Subject::Ip, Instant(0), 0);
        let mut asked = Vec::new();
        while pool.next_service(Id(0), own, Instant(0)).is_some() {
            asked.push(String::from(&*pool.get_mut(Id(0)).unwrap().url));
        }
        asked
    }

    #[test]
    fn i1_own_service_then_the_round_then_the_last_resort() {
        let asked = order(Some("http://own.test/"), 7);
        assert_eq!(asked.len(), 1 + ROUND.len() + LAST_RESORT.len());
        assert_eq!(asked[0], "http://own.test/");
        let mut round = asked[1..8].to_vec();
        let first = ROUND
            .iter()
            .position(|service| service.url == round[0])
            .unwrap();
        round.rotate_right(first);
        assert_eq!(round, ROUND.map(|service| service.url));
        assert_eq!(asked[8..], LAST_RESORT.map(|service| service.url));
    }

    #[test]
    fn i1_the_round_begins_somewhere_else_for_another_seed() {
        let firsts: BTreeSet<String> = (0..100).map(|seed| order(None, seed)[0].clone()).collect();
        assert_eq!(firsts.len(), ROUND.len());
    }

    #[test]
    fn i7_a_tired_service_is_left_alone_for_its_time() {
        let mut pool = FollowUps::new(7);
        pool.begin(Id(0), Subject::Ip, Instant(0), 0);
        pool.next_service(Id(0), Some("http://own.test/"), Instant(0))
            .unwrap();
        pool.rest(Id(0), Some("999999"), Instant(0));
        let at = |pool: &mut FollowUps, second: u64| {
            pool.begin(Id(0), Subject::Ip, Instant(0), 0);
            let now = Instant(0) + Duration::from_secs(second);
            pool.next_service(Id(0), Some("http://own.test/"), now)
                .unwrap();
            pool.get_mut(Id(0)).unwrap().service
        };
        assert_ne!(at(&mut pool, 3599), OWN);
        assert_eq!(at(&mut pool, 3600), OWN);
    }
}
