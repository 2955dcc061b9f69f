//! What the network of a host looks like, without what changes all the time and means
//! nothing. It must not ask the system.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

/// A look at the network. Two that are equal are one network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Interfaces, each with an address that leads beyond its link.
    addresses: BTreeSet<(String, IpAddr)>,
    /// Where traffic for everywhere leaves from; one of each family at most.
    default: BTreeSet<IpAddr>,
}

impl Look {
    /// An interface has this address.
    pub(super) fn address(&mut self, interface: &str, ip: IpAddr) {
        if leads_somewhere(ip) {
            self.addresses
                .insert((interface.to_owned(), network_of(ip)));
        }
    }

    /// Traffic for everywhere leaves from this address.
    pub(super) fn default_from(&mut self, ip: IpAddr) {
        if leads_somewhere(ip) {
            self.default.insert(network_of(ip));
        }
    }
}

/// Loopback never changes anything, and link-local addresses come and go with every
/// bridge and container.
fn leads_somewhere(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !ip.is_loopback() && !ip.is_link_local() && !ip.is_unspecified(),
        IpAddr::V6(ip) => !ip.is_loopback() && !ip.is_unicast_link_local() && !ip.is_unspecified(),
    }
}

/// The half of an IPv6 address that names the network: hosts change the other one every
/// few hours, for privacy, and keep their connections.
fn network_of(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(addresses: &[(&str, &str)], default: &[&str]) -> Look {
        let mut look = Look::default();
        for (interface, ip) in addresses {
            look.address(interface, ip.parse().unwrap());
        }
        for ip in default {
            look.default_from(ip.parse().unwrap());
        }
        look
    }

    const HOME: [(&str, &str); 2] = [("wlan0", "192.168.1.7"), ("wlan0", "2001:db8:1::7")];

    #[test]
    fn loopback_and_link_local_addresses_are_no_change() {
        let mut noisy = HOME.to_vec();
        noisy.extend([
            ("lo", "127.0.0.1"),
            ("lo", "::1"),
            ("veth3f", "fe80::1"),
            ("eth1", "169.254.3.4"),
        ]);
        assert_eq!(look(&noisy, &[]), look(&HOME, &[]));
    }

    #[test]
    fn another_private_half_of_an_ipv6_address_is_no_change() {
        let later = [("wlan0", "192.168.1.7"), ("wlan0", "2001:db8:1::e4")];
        assert_eq!(
            look(&later, &["2001:db8:1::e4"]),
            look(&HOME, &["2001:db8:1::7"])
        );
    }

    #[test]
    fn another_address_interface_network_or_default_way_is_a_change() {
        let home = look(&HOME, &["192.168.1.7"]);
        let others = [
            look(&HOME[..1], &["192.168.1.7"]),
            look(&[("wlan0", "192.168.1.8"), HOME[1]], &["192.168.1.8"]),
            look(&[("eth0", "192.168.1.7"), HOME[1]], &["192.168.1.7"]),
            look(&[HOME[0], ("wlan0", "2001:db8:2::7")], &["192.168.1.7"]),
            look(&HOME, &[]),
        ];
        for other in others {
            assert_ne!(other, home);
        }
    }
}
