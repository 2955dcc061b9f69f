//! Addresses as SOCKS 5 writes them, on streams and in datagrams. It must not know what
//! stands around them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::inbound::session::host;
use crate::proxy_core::{Host, Target};

const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Target(Target),
    /// A name that no host can have.
    NoHost,
    /// An address of a type that SOCKS does not have; its length is unknown.
    UnknownType,
}

/// Reads an address.
pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Asked> {
    let host = match stream.read_u8().await? {
        IPV4 => Some(Host::Ip(
            Ipv4Addr::from_bits(stream.read_u32().await?).into(),
        )),
        IPV6 => Some(Host::Ip(
            Ipv6Addr::from_bits(stream.read_u128().await?).into(),
        )),
        NAME => {
            let mut name = vec![0; stream.read_u8().await?.into()];
            stream.read_exact(&mut name).await?;
            String::from_utf8(name).ok().and_then(|name| host(&name))
        }
        _ => return Ok(Asked::UnknownType),
    };
    let port = stream.read_u16().await?;
    Ok(host.map_or(Asked::NoHost, |host| {
        Asked::Target(Target {
            host,
            port,
            family: None,
        })
    }))
}

/// Appends an address.
pub(super) fn write(to: &mut Vec<u8>, address: SocketAddr) {
    write_ip(to, address.ip());
    to.extend(address.port().to_be_bytes());
}

/// Appends a target. A name that is too long to be written is the unspecified address.
pub(super) fn write_target(to: &mut Vec<u8>, target: &Target) {
    match &target.host {
        Host::Ip(ip) => write_ip(to, *ip),
        Host::Name(name) => match u8::try_from(name.len()) {
            Ok(length) => {
                to.extend([NAME, length]);
                to.extend(name.as_bytes());
            }
            Err(_) => write_ip(to, Ipv4Addr::UNSPECIFIED.into()),
        },
    }
    to.extend(target.port.to_be_bytes());
}

fn write_ip(to: &mut Vec<u8>, ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => {
            to.push(IPV4);
            to.extend(ip.octets());
        }
        IpAddr::V6(ip) => {
            to.push(IPV6);
            to.extend(ip.octets());
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn read_all(mut bytes: &[u8]) -> io::Result<(Asked, usize)> {
        let asked = read(&mut bytes).now_or_never().unwrap()?;
        Ok((asked, bytes.len()))
    }

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
            write_target(&mut written, &target(host.clone()));
            written.extend(b"rest");
            let (asked, left) = read_all(&written).unwrap();
            assert_eq!(asked, Asked::Target(target(host)));
            assert_eq!(left, 4);
        }
    }

    #[test]
    fn hostile_names_are_no_hosts() {
        let names: [&[u8]; 5] = [b"", b"a b", b"a\0b", b"\xff\xfe", b"x/y"];
        for name in names {
            let mut bytes = vec![NAME, u8::try_from(name.len()).unwrap()];
            bytes.extend(name);
            bytes.extend([1, 187]);
            let (asked, _) = read_all(&bytes).unwrap();
            assert_eq!(asked, Asked::NoHost, "{name:?}");
        }
    }

    #[test]
    fn an_address_that_is_cut_short_is_an_error_and_an_unknown_type_is_told() {
        for bytes in [&[][..], &[IPV4, 1, 2], &[IPV6; 9], &[NAME, 200, b'a']] {
            assert!(read_all(bytes).is_err(), "{bytes:?}");
        }
        assert_eq!(read_all(&[2, 0, 0]).unwrap().0, Asked::UnknownType);
    }
}
