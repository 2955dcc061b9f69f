//! Hosts and targets as SOCKS 5 writes them, and trojan, shadowsocks and VLESS after it:
//! a byte for the kind, then the address. It must not know what stands around them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::BufMut;
use futures::FutureExt as _;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::core::options::parse_host;
use crate::proxy_core::{Cause, FetchError, Host, Phase, Target};

/// The bytes for the kinds of a host: an IPv4 address, a name, an IPv6 address.
pub(crate) type Kinds = [u8; 3];

/// Those of SOCKS 5.
const SOCKS: Kinds = [1, 3, 4];

/// What stands where a host should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    /// A name that no host can have.
    Name,
    /// A kind that there is not; how long it is, nobody knows.
    Kind,
}

/// Reads a target.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Result<Target, Odd>> {
    let host = read_host(stream, SOCKS).await?;
    if host == Err(Odd::Kind) {
        return Ok(Err(Odd::Kind));
    }
    let port = stream.read_u16().await?;
    Ok(host.map(|host| Target {
        host,
        port,
        family: None,
    }))
}

/// Reads a host whose kinds are written so.
pub(crate) async fn read_host(
    stream: &mut (impl AsyncRead + Unpin),
    [ipv4, name, ipv6]: Kinds,
) -> io::Result<Result<Host, Odd>> {
    let kind = stream.read_u8().await?;
    Ok(if kind == ipv4 {
        Ok(Host::Ip(
            Ipv4Addr::from_bits(stream.read_u32().await?).into(),
        ))
    } else if kind == ipv6 {
        Ok(Host::Ip(
            Ipv6Addr::from_bits(stream.read_u128().await?).into(),
        ))
    } else if kind == name {
        let mut name = vec![0; stream.read_u8().await?.into()];
        stream.read_exact(&mut name).await?;
        let name = String::from_utf8(name).ok();
        name.and_then(|name| parse_host(&name)).ok_or(Odd::Name)
    } else {
        Err(Odd::Kind)
    })
}

/// The target at the start of `bytes` and its length there; none while it is cut short.
///
/// # Errors
/// It is of a kind that there is not.
pub(crate) fn parse(bytes: &[u8]) -> io::Result<Option<(Result<Target, Odd>, usize)>> {
    let mut rest = bytes;
    // Reading from memory never waits.
    match read(&mut rest).now_or_never() {
        Some(Ok(Err(Odd::Kind))) => {
            let text = "an address of an unknown kind";
            Err(io::Error::new(io::ErrorKind::InvalidData, text))
        }
        Some(Ok(found)) => Ok(Some((found, bytes.len() - rest.len()))),
        Some(Err(_)) | None => Ok(None),
    }
}

/// Appends a target.
///
/// # Errors
/// Its name is too long; nothing is written then.
pub(crate) fn write(to: &mut impl BufMut, target: &Target) -> Result<(), FetchError> {
    write_host(to, &target.host, SOCKS)?;
    to.put_u16(target.port);
    Ok(())
}

/// Appends a host whose kinds are written so.
///
/// # Errors
/// Its name is too long; nothing is written then.
pub(crate) fn write_host(
    to: &mut impl BufMut,
    host: &Host,
    [ipv4, name, ipv6]: Kinds,
) -> Result<(), FetchError> {
    match host {
        Host::Ip(IpAddr::V4(ip)) => {
            to.put_u8(ipv4);
            to.put_slice(&ip.octets());
        }
        Host::Name(text) => {
            let length = length_of(text)?;
            to.put_slice(&[name, length]);
            to.put_slice(text.as_bytes());
        }
        Host::Ip(IpAddr::V6(ip)) => {
            to.put_u8(ipv6);
            to.put_slice(&ip.octets());
        }
    }
    Ok(())
}

/// The length of a name, as the one byte that proxy protocols have for it.
///
/// # Errors
/// It does not fit.
pub(crate) fn length_of(name: &str) -> Result<u8, FetchError> {
    u8::try_from(name.len()).map_err(|_| {
        let text = "the name of the target is too long for a proxy to be asked for";
        FetchError::new(Phase::Proxy, Cause::Unsupported, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: Host) -> Target {
        Target {
            host,
            port: 443,
            family: None,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let hosts = [
            Host::Ip("192.0.2.7".parse().unwrap()),
            Host::Ip("2001:db8::7".parse().unwrap()),
            Host::Name("example.org".into()),
        ];
        for host in hosts {
            let mut written = Vec::new();
            write(&mut written, &target(host.clone())).unwrap();
            let length = written.len();
            written.extend(b"rest");
            let read = parse(&written).unwrap();
            assert_eq!(read, Some((Ok(target(host)), length)));
        }
    }

    #[test]
    fn hostile_names_are_no_hosts() {
        let names: [&[u8]; 5] = [b"", b"a b", b"a\0b", b"\xff\xfe", b"x/y"];
        for name in names {
            let mut bytes = vec![3, u8::try_from(name.len()).unwrap()];
            bytes.extend(name);
            bytes.extend([1, 187]);
            let length = bytes.len();
            let read = parse(&bytes).unwrap();
            assert_eq!(read, Some((Err(Odd::Name), length)), "{name:?}");
        }
    }

    #[test]
    fn an_address_that_is_cut_short_is_none_yet_and_an_unknown_kind_an_error() {
        for bytes in [
            &[][..],
            &[1, 1, 2],
            &[4; 9],
            &[3, 200, b'a'],
            &[3, 1, b'a', 1],
        ] {
            assert_eq!(parse(bytes).unwrap(), None, "{bytes:?}");
        }
        assert!(parse(&[2, 0, 0]).is_err());
    }

    #[test]
    fn a_name_that_is_too_long_is_not_written() {
        let mut written = Vec::new();
        let long = target(Host::Name("x".repeat(256)));
        let error = write(&mut written, &long).unwrap_err();
        assert_eq!(error.cause, Cause::Unsupported);
        assert!(written.is_empty());
    }
}
