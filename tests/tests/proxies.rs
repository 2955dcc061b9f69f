//! The native core against real servers on loopback.

mod proxies {
    mod answers;
    mod chains;
    mod http;
    mod names;
    mod rude;
    mod socks;
    mod timings;
    mod tls;
    mod world;
}
