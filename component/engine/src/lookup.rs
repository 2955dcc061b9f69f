//! Which IP service a lookup asks next (I-1), and which ones rest (I-7). It must not
//! know what a service answered.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::time::Duration;

use crate::Instant;
use crate::services::{LAST_RESORT, ROUND, Service};
use crate::topology::Id;

/// How long a service that gave no time is left alone after a 429 (I-7).
const DEFAULT_REST: Duration = Duration::from_secs(60);
/// The longest such time.
const LONGEST_REST: Duration = Duration::from_secs(3600);

/// Stands for the service of `ipinfo_url` among the hosts.
const OWN: &str = "";

/// How far one lookup has come on its way through the services.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// Where the round begins.
    first: usize,
    /// Steps done: the user's own service, the round, the last resort.
    done: usize,
    /// The service being asked.
    host: &'static str,
}

/// What is known of the services, by outbound.
#[derive(Debug, Default)]
pub(crate) struct Services {
    /// Those that an outbound's exit has asked too often, and until when.
    resting: BTreeMap<(Id, &'static str), Instant>,
    random: u64,
}

impl Services {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: seed,
            ..Self::default()
        }
    }

    /// A new way from a random start.
    pub(crate) fn begin(&mut self) -> Way {
        Way {
            first: self.draw(ROUND.len()),
            done: 0,
            host: OWN,
        }
    }

    /// The address to ask next; none when all were asked.
    pub(crate) fn next(
        &mut self,
        id: Id,
        way: &mut Way,
        own: Option<&str>,
        now: Instant,
    ) -> Option<String> {
        loop {
            let step = way.done;
            way.done += 1;
            let (host, url) = match (step.checked_sub(1), own) {
                (None, None) => continue,
                (None, Some(own)) => (OWN, own),
                (Some(step), _) => {
                    let service = nth(way.first, step)?;
                    (service.host, service.url)
                }
            };
            if !self.rests(id, host, now) {
                way.host = host;
                return Some(String::from(url));
            }
        }
    }

    /// Leaves the service being asked alone, for the time it gave in seconds.
    pub(crate) fn rest(&mut self, id: Id, way: &Way, retry_after: Option<&str>, now: Instant) {
        let given = retry_after
            .and_then(|text| text.trim().parse().ok())
            .map(Duration::from_secs);
        let until = now + given.unwrap_or(DEFAULT_REST).min(LONGEST_REST);
        self.resting.insert((id, way.host), until);
    }

    /// An outbound is gone.
    pub(crate) fn forget(&mut self, id: Id) {
        let own = self
            .resting
            .range((id, OWN)..)
            .take_while(|((of, _), _)| *of == id);
        let keys: alloc::vec::Vec<_> = own.map(|(&key, _)| key).collect();
        for key in keys {
            self.resting.remove(&key);
        }
    }

    fn rests(&mut self, id: Id, host: &'static str, now: Instant) -> bool {
        let Some(&until) = self.resting.get(&(id, host)) else {
            return false;
        };
        if until <= now {
            reached!("a service has rested");
            self.resting.remove(&(id, host));
        }
        until > now
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

/// The services of the round and after it the last resort.
fn nth(first: usize, step: usize) -> Option<Service> {
    match step.checked_sub(ROUND.len()) {
        None => ROUND.get((first + step) % ROUND.len()).copied(),
        Some(late) => LAST_RESORT.get(late).copied(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use super::*;

    const ID: Id = Id(0);

    fn order(own: Option<&str>, seed: u64) -> Vec<String> {
        let mut services = Services::new(seed);
        let mut way = services.begin();
        core::iter::from_fn(|| services.next(ID, &mut way, own, Instant(0))).collect()
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
    fn i7_a_tired_service_is_left_alone_for_its_time_at_most_an_hour() {
        let own = Some("http://own.test/");
        let mut services = Services::new(7);
        let mut way = services.begin();
        assert_eq!(services.next(ID, &mut way, own, Instant(0)).as_deref(), own);
        services.rest(ID, &way, Some("999999"), Instant(0));
        let mut first_at = |id: Id, second: u64| {
            let mut way = services.begin();
            services.next(id, &mut way, own, Instant(0) + Duration::from_secs(second))
        };
        assert_ne!(first_at(ID, 3599).as_deref(), own);
        assert_eq!(
            first_at(Id(1), 3599).as_deref(),
            own,
            "another exit is not tired"
        );
        assert_eq!(first_at(ID, 3600).as_deref(), own);
    }
}
