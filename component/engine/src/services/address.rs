//! Which IP addresses can be the exit of an outbound. It must not know who told
//! them.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reads an address. An IPv4 address written as `::ffff:a.b.c.d` is that IPv4
/// address (SPEC I-3).
pub(super) fn parse(text: &str) -> Option<IpAddr> {
    text.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

/// Whether the address can belong to one host of the internet (SPEC I-3).
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// Whether the address stands for many hosts, and so never for one exit.
pub(super) fn is_for_many(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(v4) => v4.is_multicast() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_multicast(),
    }
}

/// Blocks of the IANA registry of special addresses, and how many bits name
/// them.
const SPECIAL_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // carrier NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays, gone
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved
    (Ipv4Addr::BROADCAST, 32),
];

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let in_block =
        |&(block, bits): &(Ipv4Addr, u32)| (ip.to_bits() ^ block.to_bits()).leading_zeros() >= bits;
    !SPECIAL_V4.iter().any(in_block)
}

/// IPv6 is the other way round: only 2000::/3 is given to hosts at all, so that
/// unspecified, loopback, link-local, unique local and multicast addresses need
/// no line here.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    match ip.segments() {
        // NAT64 and 6to4 carry an IPv4 address, which decides.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(joined(high, low)),
        [0x2002, high, low, ..] => is_public_v4(joined(high, low)),
        // Protocol assignments: tunnels that are gone, benchmarks, hashes of keys.
        [0x2001, 0..=0x1ff, ..] => false,
        // Documentation.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first >> 13 == 0b001,
    }
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[track_caller]
    fn check(public: bool, texts: &[&str]) {
        for text in texts {
            let ip = parse(text).unwrap_or_else(|| panic!("{text} is an address"));
            assert_eq!(is_public(ip), public, "{text}");
        }
    }

    #[test]
    fn i3_public_addresses_count() {
        check(
            true,
            &[
                "1.0.0.0",
                "1.1.1.1",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "191.255.255.255",
                "192.0.1.0",
                "192.0.3.0",
                "192.88.98.255",
                "192.88.100.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "198.51.99.255",
                "198.51.101.0",
                "203.0.112.255",
                "203.0.114.0",
                "223.255.255.255",
            ],
        );
        check(
            true,
            &[
                "2606:4700:4700::1111",
                "2a00:1450::1",
                "2001:200::1",
                "2001:4860:4860::8888",
                "2001:db7:ffff::1",
                "2001:db9::1",
                "3ffe:ffff::1",
                "3fff:1000::1",
                "2003::1",
                "2000::1",
                "3fff:ffff::1",
            ],
        );
    }

    #[test]
    fn i3_addresses_that_are_not_on_the_internet_are_refused() {
        check(
            false,
            &[
                "0.0.0.0",
                "0.255.255.255",
                "10.0.0.0",
                "10.255.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "127.0.0.1",
                "127.255.255.255",
                "169.254.0.1",
                "169.254.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "192.0.0.0",
                "192.0.0.255",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.0.0",
                "192.168.255.255",
                "198.18.0.0",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.255",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.254",
                "255.255.255.255",
            ],
        );
        check(
            false,
            &[
                "::",
                "::1",
                "::8.8.8.8",
                "100::1",
                "1fff:ffff::1",
                "2001::1",
                "2001:1ff::1",
                "2001:2::1",
                "2001:10::1",
                "2001:db8::1",
                "2001:db8:ffff::1",
                "3fff::1",
                "3fff:fff:ffff::1",
                "4000::1",
                "5f00::1",
                "64:ff9b:1::1",
                "fc00::1",
                "fdff::1",
                "fe80::1",
                "febf::1",
                "fec0::1",
                "ff02::1",
                "ffff::1",
            ],
        );
    }

    #[test]
    fn i3_a_mapped_address_is_ipv4() {
        assert_eq!(
            parse("::ffff:1.2.3.4").map(|ip| ip.to_string()).as_deref(),
            Some("1.2.3.4")
        );
        check(true, &["::ffff:1.2.3.4", "::ffff:808:808"]);
        check(
            false,
            &["::ffff:10.0.0.1", "::ffff:0:0", "::ffff:127.0.0.1"],
        );
    }

    #[test]
    fn i3_an_ipv4_address_inside_a_transition_prefix_decides() {
        check(true, &["64:ff9b::8.8.8.8", "2002:808:808::1"]);
        check(
            false,
            &["64:ff9b::10.0.0.1", "2002:a00:1::1", "2002:7f00:1::"],
        );
    }

    #[test]
    fn i3_multicast_and_broadcast_are_for_many() {
        for text in [
            "224.0.0.1",
            "255.255.255.255",
            "ff02::1",
            "::ffff:224.0.0.1",
        ] {
            assert!(parse(text).is_some_and(is_for_many), "{text}");
        }
        for text in [
            "127.0.0.1",
            "0.0.0.0",
            "::1",
            "fe80::1",
            "8.8.8.8",
            "203.0.113.7",
        ] {
            assert!(!parse(text).is_some_and(is_for_many), "{text}");
        }
    }

    #[test]
    fn i3_what_is_no_address_does_not_parse() {
        for text in [
            "",
            "1.2.3",
            "1.2.3.4.5",
            "01.2.3.4",
            "1.2.3.4:80",
            "[::1]",
            "fe80::1%eth0",
            "256.1.1.1",
            "1.2.3.4/32",
            "localhost",
            "::g",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
