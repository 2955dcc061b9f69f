//! Datagrams as SOCKS 5 wraps them (RFC 1928, section 7). It must not know how they
//! travel.

use super::address;
use crate::proxy_core::{FetchError, Target};

/// A datagram to `target`, or from it.
///
/// # Errors
/// The name is too long for SOCKS.
pub(crate) fn wrap(payload: &[u8], target: &Target) -> Result<Vec<u8>, FetchError> {
    let mut packet = vec![0, 0, 0];
    address::write(&mut packet, target)?;
    packet.extend(payload);
    Ok(packet)
}

/// The target, or the source, of a datagram and its payload. None for a fragment, which
/// the standard lets us drop, and for what is no datagram.
pub(crate) fn unwrap(packet: &[u8]) -> Option<(Target, &[u8])> {
    let [_, _, 0, rest @ ..] = packet else {
        return None;
    };
    let (found, length) = address::parse(rest).ok()??;
    Some((found.ok()?, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy_core::Host;

    #[test]
    fn what_is_wrapped_is_unwrapped_again() {
        for host in [Host::Ip([192, 0, 2, 7].into()), Host::Name("a.test".into())] {
            let target = Target {
                host,
                port: 53,
                family: None,
            };
            for payload in [&b""[..], b"query"] {
                let packet = wrap(payload, &target).unwrap();
                assert_eq!(unwrap(&packet), Some((target.clone(), payload)));
            }
        }
    }

    #[test]
    fn fragments_and_garbage_are_no_datagrams() {
        let packets: [&[u8]; 6] = [
            b"",
            b"\0\0",
            b"\0\0\x01\x01\x7f\0\0\x01\0\x35fragment",
            b"\0\0\0\x01\x7f\0\0",
            b"\0\0\0\x09\x01\x02\x03",
            b"\0\0\0\x03\x03a b\0\x35no host",
        ];
        for packet in packets {
            assert_eq!(unwrap(packet), None, "{packet:?}");
        }
    }
}
