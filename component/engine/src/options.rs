//! The engine's options: the values of SPEC F-1 and F-2 after reading.
//! It must not know how they were written in a file.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// What can be set about monitoring. Whoever makes one keeps the stated ranges;
/// [`Options::default`] is what an absent block means.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How often each outbound is tested; more than zero.
    pub interval: Duration,
    /// Test addresses in order of preference, `http` or `https`; at least one.
    pub urls: Vec<String>,
    /// An IP information service to ask first.
    pub ipinfo_url: Option<String>,
    /// Whether to learn by a second fetch if an outbound carries IPv6.
    pub verify_ipv6: bool,
    /// Outbounds whose IPv6 is known from the configuration, by tag.
    pub ipv6_declared: BTreeMap<String, bool>,
    /// How many cycle tests run at once; at least 1.
    pub workers: u32,
    /// The deadline of a cycle's test and of one IP lookup request; more than zero.
    pub url_test_timeout: Duration,
    /// The marks of an asked-for test: ascending, distinct, at least one.
    pub on_demand_timeouts: Vec<Duration>,
    /// How long after the last connection testing stops; more than zero.
    pub idle_timeout: Duration,
    /// How long changes are collected before subscribers get them; more than zero.
    pub debounce_window: Duration,
    /// Which HTTP statuses count as an answer.
    pub expected_status: ExpectedStatus,
    /// Whether the delay is a second round trip on the same connection.
    pub unified_delay: bool,
    /// Whether IP information services are asked at all.
    pub ip_lookup: bool,
    /// How many tests may run on the immediate lane; at least 1.
    pub immediate_limit: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(5 * 60),
            urls: Vec::from([String::from("https://www.gstatic.com/generate_204")]),
            ipinfo_url: None,
            verify_ipv6: false,
            ipv6_declared: BTreeMap::new(),
            workers: 10,
            url_test_timeout: Duration::from_secs(5),
            on_demand_timeouts: Vec::from([1, 3, 10].map(Duration::from_secs)),
            idle_timeout: Duration::from_secs(10 * 60),
            debounce_window: Duration::from_millis(500),
            expected_status: ExpectedStatus::Auto,
            unified_delay: false,
            ip_lookup: true,
            immediate_limit: 32,
        }
    }
}

/// Which HTTP statuses count as an answer (SPEC T-5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedStatus {
    /// 204 only for a path that ends in `generate_204`; else 200 to 399 but no
    /// redirect to another host; 429 always.
    Auto,
    /// Every HTTP answer.
    Any,
    /// Those in one of the ranges.
    List(Vec<StatusRange>),
}

/// Statuses from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusRange {
    /// 100 to 599.
    pub first: u16,
    /// `first` to 599.
    pub last: u16,
}
