//! How a balancer spreads connections over its members (G-6). It must not know what a
//! member is, but for whether it lives and how fast it is.

use std::hash::{Hash as _, Hasher as _};
use std::net::IpAddr;
use std::time::Duration;

use lru::LruCache;
use siphasher::sip::SipHasher13;
use tokio::time::Instant;

use crate::proxy_core::Host;

/// How many sticky sessions are remembered; beyond, the one unused the longest is
/// forgotten.
const SESSIONS: usize = 65_536;

/// One connection, as far as it decides about a member.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    /// Where it comes from, if that is known.
    pub source: Option<IpAddr>,
    /// Where it is to go.
    pub destination: &'a Host,
}

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turn(usize);

impl Turn {
    /// The next of `count` members that is `good`; the turn moves past it.
    pub(super) fn next(&mut self, count: usize, good: impl Fn(usize) -> bool) -> Option<usize> {
        let member = (0..count)
            .map(|nth| (self.0 + nth) % count)
            .find(|&member| good(member))?;
        self.0 = (member + 1) % count;
        Some(member)
    }
}

/// The `good` member that a flow's destination belongs to: of all names of one
/// registrable domain the same, and another only when that is no longer good.
pub(super) fn by_domain<'a>(
    flow: Flow<'_>,
    members: impl Iterator<Item = (usize, &'a str)>,
    good: impl Fn(usize) -> bool,
) -> Option<usize> {
    let key = match flow.destination {
        Host::Ip(ip) => ip.to_string(),
        Host::Name(name) => domain(name),
    };
    // The highest score wins (rendezvous hashing): one member less moves only its own.
    members
        .filter(|&(member, _)| good(member))
        .max_by_key(|(member, tag)| (score(&key, tag), *member))
        .map(|(member, _)| member)
}

/// The part of a name that somebody registered, such as `example.co.uk`; the whole name
/// if there is none.
fn domain(name: &str) -> String {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    psl::domain_str(&name).map_or_else(|| name.clone(), str::to_owned)
}

/// The same in every run and on every machine.
fn score(key: &str, tag: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    key.hash(&mut hasher);
    tag.hash(&mut hasher);
    hasher.finish()
}

/// Which member each pair of source and destination has.
pub(super) struct Sessions {
    ttl: Duration,
    members: LruCache<(Option<IpAddr>, Host), Session>,
    turn: Turn,
}

struct Session {
    member: usize,
    used: Instant,
}

impl Sessions {
    pub(super) fn new(ttl: Duration) -> Self {
        Self {
            ttl,
            // Bounded below: with its bound it would take the memory at once.
            members: LruCache::unbounded(),
            turn: Turn::default(),
        }
    }

    /// The member of a flow's session as long as it `lives`; a new session takes the next
    /// of `count` members that is `good`.
    pub(super) fn member(
        &mut self,
        flow: Flow<'_>,
        count: usize,
        lives: impl Fn(usize) -> bool,
        good: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let now = Instant::now();
        let key = (flow.source, flow.destination.clone());
        let kept = self.members.get(&key).filter(|session| {
            session.member < count
                && lives(session.member)
                && now.duration_since(session.used) < self.ttl
        });
        let member = match kept {
            Some(session) => session.member,
            None => self.turn.next(count, good)?,
        };
        self.members.put(key, Session { member, used: now });
        if self.members.len() > SESSIONS {
            self.members.pop_lru();
        }
        Some(member)
    }
}
