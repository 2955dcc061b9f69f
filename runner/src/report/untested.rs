//! A report of which nothing is known yet. It must not know where reports come from.

use super::{Ipv6, Report, State, Stats};
use crate::proxy_core::Kind;

impl Report {
    /// A report of something that was never tested, such as programs that show reports try
    /// themselves with: its fields can be set.
    pub fn untested(tag: impl Into<String>, kind: Kind, type_name: impl Into<String>) -> Self {
        Self {
            tag: tag.into(),
            kind,
            type_name: type_name.into(),
            state: State::Untested,
            testing: false,
            delay_ms: None,
            delay_source: None,
            warm: false,
            url: None,
            tested_at: None,
            last_ok_at: None,
            age_ms: None,
            from_cache: false,
            miss: false,
            error: None,
            ip: None,
            ip_from_cache: false,
            ip_pending: false,
            ipv6: Ipv6::Unknown,
            ipv6_source: None,
            status_text: None,
            reason: None,
            attempts: 0,
            via: None,
            stats: Stats::default(),
            revision: 0,
            extra: Vec::new(),
        }
    }
}
