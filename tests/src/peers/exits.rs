//! Addresses of loopback that traffic can come out of, and where they pretend to be.
//! It must not know who binds to them or who looks them up.

/// A loopback address and what the IP service says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// One of 127.0.0.0/8.
    pub address: &'static str,
    /// Two letters.
    pub country: &'static str,
    /// The region's name.
    pub region: &'static str,
    /// The city's name.
    pub city: &'static str,
    /// One of those kept for documentation.
    pub asn: u32,
    /// Who runs it.
    pub org: &'static str,
}

/// Where traffic can come out. The first is where it comes out of a process that
/// binds to nothing.
pub const EXITS: [Exit; 4] = [
    Exit {
        address: "127.0.0.1",
        country: "NL",
        region: "North Holland",
        city: "Amsterdam",
        asn: 64496,
        org: "Home Net",
    },
    Exit {
        address: "127.0.0.2",
        country: "DE",
        region: "Hesse",
        city: "Frankfurt",
        asn: 64497,
        org: "Rhine Hosting",
    },
    Exit {
        address: "127.0.0.3",
        country: "JP",
        region: "Tokyo",
        city: "Tokyo",
        asn: 64498,
        org: "Sakura Transit",
    },
    Exit {
        address: "127.0.0.4",
        country: "US",
        region: "Oregon",
        city: "Portland",
        asn: 64499,
        org: "Cascade Cloud",
    },
];
