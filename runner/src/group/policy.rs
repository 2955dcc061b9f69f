//! By what a group chooses: the fields of `selector`, `urltest` and `balancer` (G-1 to
//! G-3), read. It must not know any result.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::config::Entry;
use crate::core::options::{Reader, duration, take};
use crate::proxy_core::Kind;
use crate::report::Problem;

/// How much faster than the current member another must be, in milliseconds, unless the
/// config says otherwise.
const TOLERANCE_MS: u32 = 50;
/// How many times slower than the fastest a member may be and still get connections.
const ACCEPTABLE_RATIO: f64 = 2.0;
/// How long a sticky session outlives its last connection.
const SESSION: Duration = Duration::from_secs(600);
/// How many other members are tried when one cannot be dialed (G-7).
const RETRIES: u32 = 1;

/// A group, as described by its core's owner.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPlan {
    /// Its tag.
    pub tag: String,
    /// By what it chooses.
    pub policy: Policy,
    /// The member that it starts with when none was saved; the first when absent.
    pub default: Option<String>,
    /// Connections through it end when it leads elsewhere.
    pub interrupts: bool,
    /// How many other members are tried for a connection whose member cannot be dialed;
    /// a selector tries none.
    pub retries: u32,
}

/// By what a group chooses a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// A person chooses (G-1).
    Selected,
    /// The fastest, unless the current one is at most `tolerance_ms` slower (G-2, G-5).
    LowestDelay {
        /// In milliseconds; 0 takes every faster one.
        tolerance_ms: u32,
    },
    /// One after the other, of those that are fast enough (G-6).
    RoundRobin {
        /// How many times slower than the fastest is fast enough; at least 1.
        ratio: f64,
    },
    /// The same for all connections to one domain (G-6).
    ConsistentHashing,
    /// The same for all connections from one source to one destination (G-6).
    StickySessions {
        /// How many times slower than the fastest a new session's member may be.
        ratio: f64,
        /// How long a session outlives its last connection.
        ttl: Duration,
    },
}

impl Policy {
    /// Its name, as a balancer's `strategy` (G-3); none where a person chooses.
    pub fn strategy(&self) -> Option<&'static str> {
        match self {
            Self::Selected => None,
            Self::LowestDelay { .. } => Some("lowest-delay"),
            Self::RoundRobin { .. } => Some("round-robin"),
            Self::ConsistentHashing => Some("consistent-hashing"),
            Self::StickySessions { .. } => Some("sticky-sessions"),
        }
    }
}

impl GroupPlan {
    /// A group that chooses so, with the defaults of everything else.
    pub fn new(tag: impl Into<String>, policy: Policy) -> Self {
        Self {
            tag: tag.into(),
            policy,
            default: None,
            interrupts: false,
            retries: RETRIES,
        }
    }

    /// The groups of a config, and what is wrong with their options.
    pub fn of_config(entries: &[Entry]) -> (Vec<Self>, Vec<Problem>) {
        let mut problems = Vec::new();
        let groups = entries.iter().filter(|entry| entry.kind == Kind::Group);
        let plans = groups
            .filter_map(|entry| {
                let mut reader = Reader::new(&entry.path, &mut problems);
                Self::read(entry, &mut reader)
            })
            .collect();
        (plans, problems)
    }

    /// None if the options are wrong, which `reader` has been told.
    fn read(entry: &Entry, reader: &mut Reader<'_>) -> Option<Self> {
        let mut options = entry.options.clone();
        take(&mut options, &["type", "tag", "outbounds", "default"]);
        let plan = Self {
            default: entry.default.clone(),
            ..Self::new(&entry.tag, Policy::Selected)
        };
        Some(match entry.type_name.as_str() {
            "urltest" => {
                let fields: UrlTest = reader.read(options)?;
                let tolerance_ms = fields.tolerance.unwrap_or(TOLERANCE_MS);
                Self {
                    policy: Policy::LowestDelay { tolerance_ms },
                    interrupts: fields.interrupt_exist_connections,
                    ..plan
                }
            }
            "balancer" => {
                let fields: Balancer = reader.read(options)?;
                if !(fields.delay_acceptable_ratio.is_finite()
                    && fields.delay_acceptable_ratio >= 1.0)
                {
                    let ratio = fields.delay_acceptable_ratio;
                    reader.error(
                        "delay_acceptable_ratio",
                        format!("{ratio} is no ratio; expected a number of at least 1"),
                    );
                    return None;
                }
                Self {
                    policy: fields.policy(),
                    interrupts: fields.interrupt_exist_connections,
                    retries: fields.max_retry,
                    ..plan
                }
            }
            _ => {
                let fields: Selector = reader.read(options)?;
                Self {
                    interrupts: fields.interrupt_exist_connections,
                    ..plan
                }
            }
        })
    }
}

/// Fields of a `selector`, besides its members.
#[derive(Deserialize)]
struct Selector {
    #[serde(default)]
    interrupt_exist_connections: bool,
}

/// Fields of a `urltest`.
#[derive(Deserialize)]
struct UrlTest {
    // G-2: the shared schedule of the monitor is used.
    #[serde(rename = "url")]
    _url: Option<Value>,
    #[serde(rename = "interval")]
    _interval: Option<Value>,
    #[serde(rename = "idle_timeout")]
    _idle_timeout: Option<Value>,
    tolerance: Option<u32>,
    #[serde(default)]
    interrupt_exist_connections: bool,
}

/// Fields of a `balancer`.
#[derive(Deserialize)]
#[serde(default)]
struct Balancer {
    strategy: Strategy,
    tolerance: u32,
    delay_acceptable_ratio: f64,
    #[serde(deserialize_with = "duration")]
    ttl: Option<Duration>,
    max_retry: u32,
    interrupt_exist_connections: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Strategy {
    #[default]
    LowestDelay,
    RoundRobin,
    ConsistentHashing,
    StickySessions,
}

impl Default for Balancer {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            tolerance: TOLERANCE_MS,
            delay_acceptable_ratio: ACCEPTABLE_RATIO,
            ttl: None,
            max_retry: RETRIES,
            interrupt_exist_connections: false,
        }
    }
}

impl Balancer {
    fn policy(&self) -> Policy {
        let ratio = self.delay_acceptable_ratio;
        match self.strategy {
            Strategy::LowestDelay => Policy::LowestDelay {
                tolerance_ms: self.tolerance,
            },
            Strategy::RoundRobin => Policy::RoundRobin { ratio },
            Strategy::ConsistentHashing => Policy::ConsistentHashing,
            Strategy::StickySessions => Policy::StickySessions {
                ratio,
                ttl: self.ttl.unwrap_or(SESSION),
            },
        }
    }
}
