//! What the monitor says about an outbound: the report, its parts and its JSON
//! (SPEC R-8). It must not know the component or how a report is shown.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::proxy_core::Kind;

/// All that is known of one outbound, endpoint or group, in one view.
///
/// Serialized, it is the JSON that the CLI prints: fields may be added in later
/// versions, never renamed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Its tag.
    pub tag: String,
    /// What it is.
    #[serde(serialize_with = "kind_name")]
    pub kind: Kind,
    /// The core's own word for its type.
    #[serde(rename = "type")]
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
    /// When the result was measured.
    #[serde(serialize_with = "rfc3339")]
    pub tested_at: Option<Timestamp>,
    /// When a test last answered.
    #[serde(serialize_with = "rfc3339")]
    pub last_ok_at: Option<Timestamp>,
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
    /// An IP lookup through it is waiting or running (display view only).
    pub ip_pending: bool,
    /// Whether it carries IPv6.
    pub ipv6: Ipv6,
    /// How that is known.
    pub ipv6_source: Option<Ipv6Source>,
    /// The core's words about an outbound that is not ready.
    pub status_text: Option<String>,
    /// Why the last test ran.
    pub reason: Option<Reason>,
    /// How many fetches the last test took.
    pub attempts: u32,
    /// For a group: the outbound all this was taken from.
    pub via: Option<String>,
    /// Figures over the last measurements.
    pub stats: Stats,
    /// Grows with every change.
    pub revision: u64,
    /// What an engine later than this runner knows besides, as name and JSON text. In JSON
    /// an object of such texts, left out while it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_object")]
    pub extra: Vec<(String, String)>,
}

/// An enum that is written as its snake-case (or given) name.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// The stable name, as in every output.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

names!(
    /// What is known of an outbound.
    State {
        /// Nothing.
        Untested = "untested",
        /// A result of an earlier run only.
        Cached = "cached",
        /// The last test of this run answered.
        Ok = "ok",
        /// The last test of this run failed.
        Failed = "failed",
        /// It cannot be tested now; the status text says why.
        NotReady = "not_ready",
    }
);

names!(
    /// Where a delay was measured.
    DelaySource {
        /// The URL test.
        Url = "url",
        /// The IP lookup after it, which answered faster.
        IpInfo = "ipinfo",
    }
);

names!(
    /// Whether an outbound carries IPv6.
    Ipv6 {
        /// Not known.
        Unknown = "unknown",
        /// It does.
        Yes = "yes",
        /// It does not.
        No = "no",
    }
);

names!(
    /// How the knowledge about IPv6 came.
    Ipv6Source {
        /// From the configuration.
        Declared = "declared",
        /// By a fetch of this run.
        Verified = "verified",
    }
);

names!(
    /// Why a test failed.
    ErrorKind {
        /// The connection was refused.
        DialRefused = "dial_refused",
        /// The connection did not open in time.
        DialTimeout = "dial_timeout",
        /// The name does not resolve.
        DnsFail = "dns_fail",
        /// The resolver did not answer in time.
        DnsTimeout = "dns_timeout",
        /// There is no way to the address.
        NoRoute = "no_route",
        /// A proxy refused the credentials.
        ProxyAuth = "proxy_auth",
        /// A proxy refused otherwise, or does not speak its protocol.
        ProxyHandshake = "proxy_handshake",
        /// The TLS handshake failed.
        TlsFail = "tls_fail",
        /// The certificate is not to be trusted.
        TlsCert = "tls_cert",
        /// The HTTP status is not one that counts.
        HttpStatus = "http_status",
        /// The response is not HTTP.
        HttpMalformed = "http_malformed",
        /// The stream ended in the middle.
        Eof = "eof",
        /// The stream was reset.
        Reset = "reset",
        /// The test did not end in time.
        Timeout = "timeout",
        /// The core never gave an answer.
        Stuck = "stuck",
        /// The test was given up.
        Canceled = "canceled",
        /// The core cannot do this.
        Unsupported = "unsupported",
        /// Anything else.
        Other = "other",
    }
);

names!(
    /// Why a test ran.
    Reason {
        /// A group's selection, first of all.
        Start = "start",
        /// Its turn in a cycle.
        Cycle = "cycle",
        /// The cycle again with the next address.
        NextUrl = "next-url",
        /// Someone asked.
        Asked = "asked",
        /// A connection failed.
        ConnectionFailed = "connection-failed",
        /// A group selected it.
        Switched = "switched",
        /// What it depends on changed.
        Depends = "depends",
        /// It became ready.
        Ready = "ready",
        /// Its detour works again.
        Recovered = "recovered",
        /// The network changed.
        Network = "network",
        /// The last attempt failed.
        Retry = "retry",
        /// The engine was replaced.
        Reload = "reload",
        /// The device woke up.
        Resume = "resume",
    }
);

/// A failed test's error.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Failure {
    /// For programs.
    pub kind: ErrorKind,
    /// For people.
    pub text: String,
}

/// What is known of the address that an outbound's traffic comes out of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct IpInfo {
    /// An IPv4 or IPv6 address.
    pub ip: String,
    /// Two upper-case letters.
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

/// Figures over the last measurements of this run, at most 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Stats {
    /// How many there are.
    pub count: u32,
    /// How many failed.
    pub failed: u32,
    /// Mean delay of those that answered.
    pub mean_ms: Option<u32>,
    /// Mean difference of neighbouring delays.
    pub jitter_ms: Option<u32>,
}

/// One measurement of this run (SPEC R-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Measurement {
    /// When it was over, to the second.
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// Milliseconds, at least 1; none if it failed.
    pub delay_ms: Option<u32>,
    /// What went wrong; none if it answered.
    pub error: Option<ErrorKind>,
}

/// Which of the two views of the results is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What groups choose by: the last finished results.
    Confirmed,
    /// The same plus misses and running tests; what people look at.
    Display,
}

/// Whose reports a subscriber wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All.
    All,
    /// One outbound's or group's.
    Tag(String),
    /// A group's and all its members', nested ones too.
    Group(String),
}

/// What changed since a subscriber's last update.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The current reports of what changed.
    pub reports: Vec<Report>,
    /// Tags that are gone.
    pub removed: Vec<String>,
    /// It did not wait for the debounce window.
    pub urgent: bool,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing can be started.
    Error,
    /// It works all the same.
    Warning,
}

/// Something wrong or doubtful in options or in a config file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where in the options or file, such as `urls[1]` or
    /// `outbounds[3].tls.alpn[0]`; empty for all of it.
    pub path: String,
    /// What is wrong, with the value found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

fn kind_name<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match kind {
        Kind::Outbound | Kind::Untestable => "outbound",
        Kind::Endpoint => "endpoint",
        Kind::Group => "group",
    })
}

pub(crate) fn as_text<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

fn as_object<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, text)| (name, text)))
}

fn rfc3339<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(|at| at.to_string()).serialize(serializer)
}

mod untested;

#[cfg(test)]
mod tests;
