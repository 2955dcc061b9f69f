//! What is known of one outbound. It must not know other outbounds or groups.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::report::{DelaySource, Failure, IpInfo, Ipv6, Ipv6Source, Reason, State};
use crate::ring::Ring;

/// What is known of one outbound.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    /// The last test that answered, of this run or loaded.
    pub(crate) success: Option<Success>,
    /// The last test of this run, if it failed.
    pub(crate) failed: Option<Failed>,
    /// Why it cannot be tested, if the core says so (D-4).
    pub(crate) not_ready: Option<NotReady>,
    /// Boxed, since most of many outbounds may never get one.
    pub(crate) ip: Option<Box<IpInfo>>,
    pub(crate) ip_from_cache: bool,
    /// Only for the display view: a lookup waits or runs.
    #[serde(skip)]
    pub(crate) ip_pending: bool,
    pub(crate) ipv6: Option<(bool, Ipv6Source)>,
    /// Why the last test ran, and how many probes it took.
    pub(crate) reason: Option<Reason>,
    pub(crate) attempts: u32,
    pub(crate) ring: Ring,
    /// Only for the display view: unavailable for now (S-3), being tested.
    #[serde(skip)]
    pub(crate) miss: bool,
    #[serde(skip)]
    pub(crate) testing: bool,
    /// The last change of what the confirmed view shows.
    pub(crate) revision: u64,
    /// The last change of what only the display view shows.
    pub(crate) shown_revision: u64,
}

/// A test that answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Success {
    pub(crate) delay_ms: u32,
    pub(crate) source: DelaySource,
    pub(crate) warm: bool,
    #[serde(with = "shared_text")]
    pub(crate) url: Arc<str>,
    /// When, if in this run; absent if loaded.
    pub(crate) at: Option<Instant>,
    pub(crate) wall_ms: u64,
}

/// A test that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub(crate) failure: Failure,
    #[serde(with = "shared_text")]
    pub(crate) url: Arc<str>,
    pub(crate) at: Instant,
    pub(crate) wall_ms: u64,
}

/// The core's word that an outbound cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotReady {
    pub(crate) text: String,
    /// Not ever in this core (D-6).
    pub(crate) for_good: bool,
}

/// What an outbound was found to be in this run, before a new test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// No result of this run.
    Nothing,
    Worked,
    Failed,
}

impl Record {
    pub(crate) fn state(&self) -> State {
        if self.not_ready.is_some() {
            return State::NotReady;
        }
        match (&self.failed, &self.success) {
            (Some(_), _) => State::Failed,
            (None, Some(success)) if success.at.is_some() => State::Ok,
            (None, Some(_)) => State::Cached,
            (None, None) => State::Untested,
        }
    }

    pub(crate) fn known(&self) -> Known {
        match (&self.failed, &self.success) {
            (Some(_), _) => Known::Failed,
            (None, Some(success)) if success.at.is_some() => Known::Worked,
            (None, _) => Known::Nothing,
        }
    }

    /// The last result, unless it is a failure.
    pub(crate) fn delay_ms(&self) -> Option<u32> {
        let success = self.success.as_ref().filter(|_| self.failed.is_none())?;
        Some(success.delay_ms)
    }

    /// When it last answered in this run, unless it failed since.
    pub(crate) fn ok_at(&self) -> Option<Instant> {
        let success = self.success.as_ref().filter(|_| self.failed.is_none())?;
        success.at
    }

    /// T-8: whether IP information is missing or only loaded.
    pub(crate) fn wants_ip(&self) -> bool {
        self.ip.is_none() || self.ip_from_cache
    }

    /// I-5: the new record replaces the old one, which fills gaps only for the same
    /// address.
    pub(crate) fn take_ip(&mut self, mut new: IpInfo) {
        if let Some(old) = self.ip.take().filter(|old| old.ip == new.ip) {
            reached!("a new record fills its gaps from the old one");
            let old = *old;
            new.country_code = new.country_code.or(old.country_code);
            new.region = new.region.or(old.region);
            new.city = new.city.or(old.city);
            new.asn = new.asn.or(old.asn);
            new.org = new.org.or(old.org);
        }
        self.ip = Some(Box::new(new));
        self.ip_from_cache = false;
    }

    pub(crate) fn ipv6(&self) -> (Ipv6, Option<Ipv6Source>) {
        match self.ipv6 {
            None => (Ipv6::Unknown, None),
            Some((true, source)) => (Ipv6::Yes, Some(source)),
            Some((false, source)) => (Ipv6::No, Some(source)),
        }
    }
}

/// Text that many records share, as serde takes it.
mod shared_text {
    use alloc::string::String;
    use alloc::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(from).map(Arc::from)
    }
}
