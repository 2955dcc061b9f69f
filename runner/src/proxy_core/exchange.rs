//! One HTTP exchange through an outbound: what is sent, what comes back, and how it
//! fails. It must not know who does it.

use std::time::Duration;

use super::Family;

/// One HTTP exchange. No redirect is followed, no connection reused, no cookie sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Absolute, `http` or `https`.
    pub url: String,
    /// The method's name, such as `HEAD`.
    pub method: String,
    /// Sent as given, besides `host` and `connection`.
    pub headers: Vec<(String, String)>,
    /// Bounds the whole exchange, from the call.
    pub deadline: Duration,
    /// Reading stops after so many bytes of body.
    pub body_limit: u32,
    /// Lower-case names of the response headers wanted.
    pub response_headers: Vec<String>,
    /// Send it twice on one connection and time the second too.
    pub repeat: bool,
    /// Dial only over this family.
    pub family: Option<Family>,
}

/// How long each phase of an exchange took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Resolving the name, where the core did it itself.
    pub dns: Option<Duration>,
    /// From the start until the stream was open.
    pub dial: Duration,
    /// The TLS handshake.
    pub tls: Option<Duration>,
    /// From before the dial until the response headers.
    pub first_byte: Duration,
    /// From the start until the body was read.
    pub total: Duration,
    /// The second round trip on the same connection.
    pub repeat: Option<Duration>,
}

/// An HTTP response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The headers asked for, names in lower case, in the order received.
    pub headers: Vec<(String, String)>,
    /// The body, up to the limit.
    pub body: Vec<u8>,
    /// How long it took.
    pub timing: Timing,
}

/// Why an exchange failed, where, and in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct FetchError {
    /// Where.
    pub phase: Phase,
    /// Why, for programs.
    pub cause: Cause,
    /// Why, for people: what was tried, with whom, what came back.
    pub text: String,
}

impl FetchError {
    /// An error of `phase`, for `cause`, in words.
    pub fn new(phase: Phase, cause: Cause, text: impl Into<String>) -> Self {
        Self {
            phase,
            cause,
            text: text.into(),
        }
    }
}

/// Where an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reaching the outbound's server, or the target where there is none.
    Dial,
    /// The handshake with a proxy on the way.
    Proxy,
    /// TLS with the target.
    Tls,
    /// The request and its response.
    Http,
}

/// Why an exchange failed. Each cause becomes one error kind of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The connection was refused (`dial_refused`).
    Refused,
    /// The connection did not open in time (`dial_timeout`).
    DialTimeout,
    /// The name does not resolve (`dns_fail`).
    DnsFailed,
    /// The resolver did not answer in time (`dns_timeout`).
    DnsTimeout,
    /// There is no way to the address (`no_route`).
    NoRoute,
    /// A proxy refused the credentials or wants some (`proxy_auth`).
    ProxyAuth,
    /// A proxy refused otherwise or does not speak its protocol (`proxy_handshake`).
    ProxyHandshake,
    /// The TLS handshake failed (`tls_fail`).
    TlsFailed,
    /// The certificate is not to be trusted (`tls_cert`).
    TlsCertificate,
    /// The response is not HTTP (`http_malformed`).
    HttpMalformed,
    /// The stream ended in the middle (`eof`).
    Eof,
    /// The stream was reset (`reset`).
    Reset,
    /// The deadline passed after the stream was open (`timeout`).
    Timeout,
    /// The core cannot do this (`unsupported`).
    Unsupported,
    /// Anything else (`other`).
    Other,
}
