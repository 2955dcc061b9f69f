//! How one saved result is written: a key and a line of JSON with its version.
//! It must not know which results are saved.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::SAVED_PREFIX;
use crate::record::{Record, Success};
use crate::report::{DelaySource, IpInfo};
use crate::services::TEXT_LIMIT;
use crate::text::clean;

/// Grows when an older engine could no longer read the pairs.
const VERSION: u32 = 1;

/// Why a pair cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Written by a newer engine.
    Newer,
    Broken,
}

/// The key of an outbound's pair. `%` and `/` of the fingerprint are escaped, so that
/// the first `/` after the prefix ends it whatever the tag holds.
pub(crate) fn key(fingerprint: &str, tag: &str) -> String {
    let plain = fingerprint.bytes().all(|byte| byte != b'%' && byte != b'/');
    if plain {
        return [SAVED_PREFIX, fingerprint, "/", tag].concat();
    }
    let escaped = fingerprint.replace('%', "%25").replace('/', "%2F");
    [SAVED_PREFIX, &escaped, "/", tag].concat()
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

#[derive(Serialize, Deserialize)]
struct Pair {
    v: u32,
    /// Wall milliseconds of the writing.
    saved_at: u64,
    delay_ms: u32,
    /// The delay came from the IP lookup.
    #[serde(default, skip_serializing_if = "is_false")]
    by_ipinfo: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    warm: bool,
    url: String,
    /// Wall milliseconds of the last success.
    ok_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ip: Option<Ip>,
}

#[derive(Serialize, Deserialize)]
struct Ip {
    ip: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    country_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    city: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asn: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    org: Option<String>,
    service: String,
    tls: bool,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

/// Writes the last success of a record; none without one.
pub(super) fn encode(record: &Record, wall_ms: u64) -> Option<Vec<u8>> {
    let success = record.success.as_ref()?;
    let pair = Pair {
        v: VERSION,
        saved_at: wall_ms,
        delay_ms: success.delay_ms,
        by_ipinfo: success.source == DelaySource::IpInfo,
        warm: success.warm,
        url: String::from(&*success.url),
        ok_at: success.wall_ms,
        ip: record.ip.as_deref().map(|ip| Ip {
            ip: ip.ip.clone(),
            country_code: ip.country_code.clone(),
            region: ip.region.clone(),
            city: ip.city.clone(),
            asn: ip.asn,
            org: ip.org.clone(),
            service: ip.service.clone(),
            tls: ip.tls,
        }),
    };
    serde_json::to_vec(&pair).ok()
}

/// Reads when a pair was saved, and with that whether it can be used.
pub(super) fn saved_at(value: &[u8]) -> Result<u64, Unreadable> {
    read(value).map(|pair| pair.saved_at)
}

/// Fills a record from a pair that can be used.
pub(super) fn decode(value: &[u8], record: &mut Record) {
    let Ok(pair) = read(value) else { return };
    record.success = Some(Success {
        delay_ms: pair.delay_ms.max(1),
        source: if pair.by_ipinfo {
            DelaySource::IpInfo
        } else {
            DelaySource::Url
        },
        warm: pair.warm,
        url: Arc::from(pair.url),
        at: None,
        wall_ms: pair.ok_at,
    });
    record.ip_from_cache = pair.ip.is_some();
    record.ip = pair.ip.map(|ip| {
        Box::new(IpInfo {
            ip: ip.ip,
            country_code: ip.country_code,
            region: ip.region,
            city: ip.city,
            asn: ip.asn,
            org: ip.org,
            service: ip.service,
            tls: ip.tls,
        })
    });
}

fn read(value: &[u8]) -> Result<Pair, Unreadable> {
    // The version first: of a newer pair nothing else is known.
    let version: Version = serde_json::from_slice(value).map_err(|_| Unreadable::Broken)?;
    if version.v > VERSION {
        return Err(Unreadable::Newer);
    }
    let pair: Pair = serde_json::from_slice(value).map_err(|_| Unreadable::Broken)?;
    if pair.is_sound() {
        Ok(pair)
    } else {
        Err(Unreadable::Broken)
    }
}

impl Pair {
    /// Whether this engine can have written it: whoever holds the pairs may change them,
    /// and what they say is shown (I-3, I-4).
    fn is_sound(&self) -> bool {
        !self.url.chars().any(char::is_control) && self.ip.as_ref().is_none_or(Ip::is_sound)
    }
}

impl Ip {
    fn is_sound(&self) -> bool {
        let ip = self.ip.parse::<IpAddr>();
        let is_country =
            |code: &String| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        let texts = [&self.region, &self.city, &self.org].into_iter().flatten();
        ip.is_ok_and(|ip| ip.to_string() == self.ip)
            && self.country_code.as_ref().is_none_or(is_country)
            && texts
                .chain([&self.service])
                .all(|text| clean(text, TEXT_LIMIT) == *text)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn p2_keys_of_different_servers_and_tags_never_meet() {
        let keys = [
            key("a", "b/c"),
            key("a/b", "c"),
            key("a%2Fb", "c"),
            key("", "a/b/c"),
        ];
        for (at, one) in keys.iter().enumerate() {
            assert!(keys[at + 1..].iter().all(|other| other != one), "{one}");
        }
    }

    #[test]
    fn p3_a_newer_version_is_told_from_a_broken_pair() {
        assert_eq!(saved_at(br#"{"v":2,"x":[]}"#), Err(Unreadable::Newer));
        assert_eq!(saved_at(br#"{"v":1}"#), Err(Unreadable::Broken));
        assert_eq!(saved_at(b"\xff\x00"), Err(Unreadable::Broken));
    }

    #[test]
    fn p3_a_pair_that_the_engine_cannot_have_written_is_broken() {
        let pair = |url: &str, ip: &str, country: &str| {
            let ip =
                format!(r#"{{"ip":"{ip}","country_code":"{country}","service":"x","tls":true}}"#);
            let pair =
                format!(r#"{{"v":1,"saved_at":7,"delay_ms":1,"url":"{url}","ok_at":1,"ip":{ip}}}"#);
            saved_at(pair.as_bytes())
        };
        assert_eq!(pair("http://one.test/", "8.8.8.8", "US"), Ok(7));
        for (url, ip, country) in [
            (r"http://one.test/\n", "8.8.8.8", "US"),
            ("http://one.test/", r"\u001b[31m", "US"),
            ("http://one.test/", "::ffff:0808:0808", "US"),
            ("http://one.test/", "8.8.8.8", "us"),
        ] {
            assert_eq!(
                pair(url, ip, country),
                Err(Unreadable::Broken),
                "{url} {ip}"
            );
        }
    }
}
