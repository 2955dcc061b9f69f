//! sing-box's dial fields, as they stand in a config. It must not know how a
//! connection is made by them.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;

use crate::core::eyeballs::Preference;
use crate::core::options::duration;

/// The fields that every outbound with sockets of its own may have.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::core) struct DialFields {
    pub(super) bind_interface: Option<String>,
    pub(super) inet4_bind_address: Option<Ipv4Addr>,
    pub(super) inet6_bind_address: Option<Ipv6Addr>,
    #[serde(deserialize_with = "duration")]
    pub(super) connect_timeout: Option<Duration>,
    domain_strategy: Strategy,
    #[serde(deserialize_with = "duration")]
    pub(super) fallback_delay: Option<Duration>,
    domain_resolver: Option<DomainResolver>,
    #[serde(deserialize_with = "mark")]
    pub(super) routing_mark: Option<u32>,
    pub(super) netns: Option<String>,
}

impl DialFields {
    /// Which addresses of a name are dialed, and in which order.
    pub(super) fn preference(&self) -> Preference {
        match (self.domain_strategy, self.domain_resolver) {
            (Strategy::AsIs, Some(DomainResolver(strategy))) => strategy.into(),
            (strategy, _) => strategy.into(),
        }
    }

    /// All that belong here, those that need nothing done included.
    pub(in crate::core) const NAMES: &[&str] = &[
        "bind_interface",
        "inet4_bind_address",
        "inet6_bind_address",
        "connect_timeout",
        "domain_resolver",
        "domain_strategy",
        "fallback_delay",
        "routing_mark",
        "netns",
    ];

    /// Those that change neither where traffic goes nor what a TCP test says.
    pub(in crate::core) const HARMLESS: &[&str] = &[
        "bind_address_no_port",
        "disable_tcp_keep_alive",
        "fallback_network_type",
        "network_strategy",
        "network_type",
        "protect_path",
        "reuse_addr",
        "tcp_fast_open",
        "tcp_keep_alive",
        "tcp_keep_alive_interval",
        "tcp_multi_path",
        "udp_fragment",
    ];
}

/// sing-box's `domain_strategy`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Strategy {
    #[default]
    #[serde(rename = "", alias = "as_is")]
    AsIs,
    PreferIpv4,
    PreferIpv6,
    Ipv4Only,
    Ipv6Only,
}

impl From<Strategy> for Preference {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::AsIs => Self::Resolver,
            Strategy::PreferIpv4 => Self::PreferV4,
            Strategy::PreferIpv6 => Self::PreferV6,
            Strategy::Ipv4Only => Self::OnlyV4,
            Strategy::Ipv6Only => Self::OnlyV6,
        }
    }
}

/// sing-box's `domain_resolver`. Names are resolved by the system whatever server it
/// names; which of their addresses are dialed is ours to honour.
#[derive(Clone, Copy, Debug)]
struct DomainResolver(Strategy);

impl<'de> Deserialize<'de> for DomainResolver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let strategy = match Value::deserialize(deserializer)? {
            Value::String(_) => None,
            Value::Object(fields) => fields.get("strategy").cloned(),
            other => {
                let text = format!("{other} is neither the tag of a DNS server nor an object");
                return Err(D::Error::custom(text));
            }
        };
        let strategy = strategy.map(Strategy::deserialize).transpose();
        Ok(Self(
            strategy.map_err(D::Error::custom)?.unwrap_or_default(),
        ))
    }
}

/// A number, or a text that is one in decimal or hexadecimal digits (`0x1f`).
fn mark<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let mark = match &value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_u64().and_then(|mark| u32::try_from(mark).ok()),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
        _ => None,
    };
    // As in sing-box, 0 is no mark.
    mark.map(|mark| Some(mark).filter(|mark| *mark != 0))
        .ok_or_else(|| {
            let text = format!("{value} is no mark; expected up to 4294967295 or such as `0x1f`");
            D::Error::custom(text)
        })
}
