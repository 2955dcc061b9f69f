//! What a client is told when the way out does not open: one table for SOCKS and HTTP.
//! It must not know how either is spoken.

use http::StatusCode;

use crate::proxy_core::{Cause, FetchError};

/// A refusal in the words of each protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The reply code of SOCKS 5 (RFC 1928, section 6).
    pub(super) socks: u8,
    /// The status of HTTP.
    pub(super) http: StatusCode,
}

/// SOCKS 5: general failure.
pub(super) const GENERAL_FAILURE: u8 = 1;
/// SOCKS 5: host unreachable.
const HOST_UNREACHABLE: u8 = 4;
/// SOCKS 5: connection refused.
const CONNECTION_REFUSED: u8 = 5;
/// SOCKS 5: TTL expired; a time-out, to everybody who speaks SOCKS.
const TTL_EXPIRED: u8 = 6;
/// SOCKS 5: command not supported.
pub(super) const COMMAND_NOT_SUPPORTED: u8 = 7;

impl From<&FetchError> for Refusal {
    fn from(error: &FetchError) -> Self {
        let (socks, http) = match error.cause {
            Cause::Refused => (CONNECTION_REFUSED, StatusCode::BAD_GATEWAY),
            Cause::NoRoute | Cause::DnsFailed => (HOST_UNREACHABLE, StatusCode::BAD_GATEWAY),
            Cause::DnsTimeout => (HOST_UNREACHABLE, StatusCode::GATEWAY_TIMEOUT),
            Cause::DialTimeout | Cause::Timeout => (TTL_EXPIRED, StatusCode::GATEWAY_TIMEOUT),
            Cause::ProxyAuth
            | Cause::ProxyHandshake
            | Cause::TlsFailed
            | Cause::TlsCertificate
            | Cause::HttpMalformed
            | Cause::Eof
            | Cause::Reset
            | Cause::Unsupported
            | Cause::Other => (GENERAL_FAILURE, StatusCode::BAD_GATEWAY),
        };
        Self { socks, http }
    }
}
