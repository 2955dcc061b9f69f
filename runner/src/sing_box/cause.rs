//! From sing-box's words about a failed dial to the kinds of T-10. It must not know
//! which outbound failed.

use tokio_socks::Error;

use crate::proxy_core::{Cause, Phase};

/// What stands in the words of Go's network, TLS and of sing-box's protocols, and what
/// it means; the first that is found counts.
const WORDS: [(&[&str], Phase, Cause); 12] = [
    (
        &["x509:", "certificate"],
        Phase::Proxy,
        Cause::TlsCertificate,
    ),
    (
        &[
            "authentication",
            "incorrect user",
            "invalid password",
            "unauthorized",
            "unable to authenticate",
            "unknown user",
        ],
        Phase::Proxy,
        Cause::ProxyAuth,
    ),
    (
        &["connection refused", "connection was refused"],
        Phase::Dial,
        Cause::Refused,
    ),
    (
        &[
            "network is unreachable",
            "no route to host",
            "host is down",
            "host unreachable",
        ],
        Phase::Dial,
        Cause::NoRoute,
    ),
    (
        &["connection reset", "broken pipe"],
        Phase::Proxy,
        Cause::Reset,
    ),
    (
        &[
            "i/o timeout",
            "deadline exceeded",
            "timed out",
            "no recent network activity",
            "timeout:",
        ],
        Phase::Dial,
        Cause::DialTimeout,
    ),
    (
        &["operation not permitted", "blocked"],
        Phase::Dial,
        Cause::Refused,
    ),
    (
        &["not supported", "not included in this build"],
        Phase::Dial,
        Cause::Unsupported,
    ),
    (
        &["tls:", "handshake failure"],
        Phase::Proxy,
        Cause::TlsFailed,
    ),
    (&["no such host", "nxdomain"], Phase::Dial, Cause::DnsFailed),
    (&["eof"], Phase::Proxy, Cause::Eof),
    (
        &["unexpected", "expected"],
        Phase::Proxy,
        Cause::ProxyHandshake,
    ),
];

/// Said before a name that is looked up.
const LOOKUP: [&str; 2] = ["lookup ", "dns: "];

/// What the words of its log mean.
pub(super) fn of_words(words: &str) -> Option<(Phase, Cause)> {
    let words = words.to_lowercase();
    let found = WORDS
        .into_iter()
        .find(|(said, ..)| said.iter().any(|said| words.contains(said)))
        .map(|(_, phase, cause)| (phase, cause));
    if LOOKUP.iter().any(|lookup| words.starts_with(lookup)) {
        let late = matches!(found, Some((_, Cause::DialTimeout)));
        let cause = if late {
            Cause::DnsTimeout
        } else {
            Cause::DnsFailed
        };
        return Some((Phase::Dial, cause));
    }
    found
}

/// What the reply of its inbound means, where the log says nothing that is known.
pub(super) fn of_reply(error: &Error) -> (Phase, Cause) {
    match error {
        Error::ConnectionRefused => (Phase::Dial, Cause::Refused),
        Error::NetworkUnreachable | Error::HostUnreachable => (Phase::Dial, Cause::NoRoute),
        Error::TtlExpired => (Phase::Dial, Cause::DialTimeout),
        Error::ConnectionNotAllowedByRuleset => (Phase::Dial, Cause::Refused),
        Error::CommandNotSupported | Error::AddressTypeNotSupported => {
            (Phase::Dial, Cause::Unsupported)
        }
        _ => (Phase::Proxy, Cause::ProxyHandshake),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t10_the_words_of_every_protocol_fall_into_a_kind() {
        let kinds = [
            (
                "dial tcp 127.0.0.1:1: connect: connection refused",
                Cause::Refused,
            ),
            ("sendmsg: connection refused", Cause::Refused),
            (
                "connect tcp 10.9.0.1:9: connection was refused",
                Cause::Refused,
            ),
            ("dial tcp 10.0.0.1:1: i/o timeout", Cause::DialTimeout),
            ("timeout: no recent network activity", Cause::DialTimeout),
            ("connect: network is unreachable", Cause::NoRoute),
            (
                "lookup a.invalid: (exchange4: NXDOMAIN | exchange6: NXDOMAIN)",
                Cause::DnsFailed,
            ),
            (
                "lookup a.test: context deadline exceeded",
                Cause::DnsTimeout,
            ),
            (
                "tls: failed to verify certificate: x509: unknown authority",
                Cause::TlsCertificate,
            ),
            ("remote error: tls: unrecognized name", Cause::TlsFailed),
            ("authentication failed, status code: 404", Cause::ProxyAuth),
            ("socks5: incorrect user name or password", Cause::ProxyAuth),
            (
                "ssh: handshake failed: ssh: unable to authenticate",
                Cause::ProxyAuth,
            ),
            (
                "read tcp 127.0.0.1:2->127.0.0.1:1: read: connection reset by peer",
                Cause::Reset,
            ),
            ("EOF", Cause::Eof),
            ("expected socks version 5, got 72", Cause::ProxyHandshake),
            ("operation not permitted", Cause::Refused),
        ];
        for (words, cause) in kinds {
            assert_eq!(
                of_words(words).map(|(_, cause)| cause),
                Some(cause),
                "{words}"
            );
        }
        assert_eq!(of_words("something else"), None);
    }
}
