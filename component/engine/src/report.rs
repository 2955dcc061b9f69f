//! A report: all that is known of one outbound, endpoint or group, in one view.
//! It must not know how any of it was found.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::input::Kind;

/// Which of the two views of the results is meant (SPEC R-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// What groups choose by: the last finished result.
    Confirmed,
    /// The same plus misses and running tests.
    Display,
}

/// The state of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing is known.
    Untested,
    /// Known from an earlier run only.
    Cached,
    /// The last test of this run answered.
    Ok,
    /// The last test of this run failed.
    Failed,
    /// It cannot be tested now; the status text says why.
    NotReady,
}

/// Where a delay was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DelaySource {
    /// The URL test.
    Url,
    /// The IP lookup after it, which answered faster.
    IpInfo,
}

/// Why a test failed (SPEC T-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the whole meaning")]
pub enum ErrorKind {
    DialRefused,
    DialTimeout,
    DnsFail,
    DnsTimeout,
    NoRoute,
    ProxyAuth,
    ProxyHandshake,
    TlsFail,
    TlsCert,
    HttpStatus,
    HttpMalformed,
    Eof,
    Reset,
    Timeout,
    Stuck,
    Canceled,
    Unsupported,
    Other,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [Self; 18] = [
        Self::DialRefused,
        Self::DialTimeout,
        Self::DnsFail,
        Self::DnsTimeout,
        Self::NoRoute,
        Self::ProxyAuth,
        Self::ProxyHandshake,
        Self::TlsFail,
        Self::TlsCert,
        Self::HttpStatus,
        Self::HttpMalformed,
        Self::Eof,
        Self::Reset,
        Self::Timeout,
        Self::Stuck,
        Self::Canceled,
        Self::Unsupported,
        Self::Other,
    ];

    /// The stable name, as in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DialRefused => "dial_refused",
            Self::DialTimeout => "dial_timeout",
            Self::DnsFail => "dns_fail",
            Self::DnsTimeout => "dns_timeout",
            Self::NoRoute => "no_route",
            Self::ProxyAuth => "proxy_auth",
            Self::ProxyHandshake => "proxy_handshake",
            Self::TlsFail => "tls_fail",
            Self::TlsCert => "tls_cert",
            Self::HttpStatus => "http_status",
            Self::HttpMalformed => "http_malformed",
            Self::Eof => "eof",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::Stuck => "stuck",
            Self::Canceled => "canceled",
            Self::Unsupported => "unsupported",
            Self::Other => "other",
        }
    }
}

/// A failed test's error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong, for programs.
    pub kind: ErrorKind,
    /// What went wrong, for people; at most 256 characters, no control characters.
    pub text: String,
}

/// What is known of the address that an outbound's traffic comes out of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpInfo {
    /// Canonical text of an IPv4 or IPv6 address.
    pub ip: String,
    /// Two upper-case ASCII letters.
    pub country_code: Option<String>,
    /// The region's name.
    pub region: Option<String>,
    /// The city's name.
    pub city: Option<String>,
    /// The autonomous system's number.
    pub asn: Option<u32>,
    /// The organisation behind the network.
    pub org: Option<String>,
    /// Host name of the service that answered.
    pub service: String,
    /// Whether it answered over TLS.
    pub tls: bool,
}

/// Whether an outbound carries IPv6 (SPEC V).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the whole meaning")]
pub enum Ipv6 {
    Unknown,
    Yes,
    No,
}

/// Where the knowledge about IPv6 comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ipv6Source {
    /// The configuration.
    Declared,
    /// A fetch of this run.
    Verified,
}

/// Why a test runs (SPEC L-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the whole meaning")]
pub enum Reason {
    Start,
    Cycle,
    NextUrl,
    Asked,
    ConnectionFailed,
    Switched,
    Depends,
    Ready,
    Recovered,
    Network,
    Retry,
    Reload,
    Resume,
}

impl Reason {
    /// The stable name, as in logs and outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Cycle => "cycle",
            Self::NextUrl => "next-url",
            Self::Asked => "asked",
            Self::ConnectionFailed => "connection-failed",
            Self::Switched => "switched",
            Self::Depends => "depends",
            Self::Ready => "ready",
            Self::Recovered => "recovered",
            Self::Network => "network",
            Self::Retry => "retry",
            Self::Reload => "reload",
            Self::Resume => "resume",
        }
    }
}

/// Figures over the last measurements of this run (SPEC R-7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// How many there are, at most 32.
    pub count: u32,
    /// How many of them failed.
    pub failed: u32,
    /// Mean delay of those that answered, in milliseconds.
    pub mean_ms: Option<u32>,
    /// Mean difference of neighbouring delays, in milliseconds.
    pub jitter_ms: Option<u32>,
}

/// One measurement of this run (SPEC R-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// When it was over, in milliseconds since 1970-01-01T00:00:00Z, to the second.
    pub wall_ms: u64,
    /// The delay in milliseconds, or what went wrong.
    pub outcome: Result<u32, ErrorKind>,
}

/// All that is known of one outbound, endpoint or group, in one view (SPEC R-1).
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Its tag.
    pub tag: String,
    /// What it is.
    pub kind: Kind,
    /// The core's own word for its type.
    pub type_name: String,
    /// What is known.
    pub state: State,
    /// A test of it is running (display view only).
    pub testing: bool,
    /// Milliseconds, at least 1.
    pub delay_ms: Option<u32>,
    /// Where the delay was measured.
    pub delay_source: Option<DelaySource>,
    /// The delay is a second round trip on an open connection.
    pub warm: bool,
    /// The address tested.
    pub url: Option<String>,
    /// When the result was measured, in wall milliseconds.
    pub tested_at: Option<u64>,
    /// When a test last answered, in wall milliseconds.
    pub last_ok_at: Option<u64>,
    /// How old the result is, in milliseconds.
    pub age_ms: Option<u64>,
    /// Loaded and not confirmed in this run.
    pub from_cache: bool,
    /// Unavailable for now (display view only).
    pub miss: bool,
    /// The last test's error.
    pub error: Option<Failure>,
    /// The exit's address and place.
    pub ip: Option<IpInfo>,
    /// `ip` was loaded and not confirmed in this run.
    pub ip_from_cache: bool,
    /// A lookup of it is waiting or running (display view only).
    pub ip_pending: bool,
    /// Whether it carries IPv6.
    pub ipv6: Ipv6,
    /// How that is known.
    pub ipv6_source: Option<Ipv6Source>,
    /// The core's words about an outbound that is not ready.
    pub status_text: Option<String>,
    /// Why the last test ran.
    pub reason: Option<Reason>,
    /// How many probes the last test took.
    pub attempts: u32,
    /// For a group: the outbound all this was taken from.
    pub via: Option<String>,
    /// Figures over the last measurements.
    pub stats: Stats,
    /// Grows with every change.
    pub revision: u64,
    /// More that is known, as name and JSON value: the contract's room for later engines.
    pub extra: Vec<(String, String)>,
}
