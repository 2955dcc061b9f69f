//! The native core, and the monitor over it, against real servers on loopback.

mod proxies {
    mod answers;
    mod chains;
    mod datagrams;
    mod http;
    mod monitor {
        mod asked;
        mod errors;
        mod groups;
        mod results;
        mod saved;
        mod world;
    }
    mod names;
    mod protocols {
        mod all;
        mod answers;
        mod credentials;
        mod datagrams;
        mod refusals;
        mod streams;
    }
    mod rude;
    mod sing_box_core {
        mod config;
        mod conformance;
        mod datagrams;
        mod dials;
        mod life;
        mod links;
        mod world;
    }
    mod socks;
    mod timings;
    mod tls;
    mod world;
}
