//! Real servers and rude ones on loopback, started for one test and gone with it. It
//! must not know Outwatch: what is tested here is told by how others see it.
//!
//! A server that is not installed fails the test and names the package it comes in.
//! `cargo xtask setup` installs them all.

mod authority;
mod background;
mod curl;
mod deaf;
mod echo;
mod exits;
mod lane;
mod local;
mod microsocks;
mod nginx;
mod outbound;
mod port;
mod process;
mod programs;
mod protocols;
mod relay;
mod rival;
mod rude;
mod sing_box;
mod tinyproxy;
mod udp_echo;
mod visitor;
mod wireguard;
mod zashboard;

pub use authority::{Authority, Leaf};
pub use curl::Curl;
pub use deaf::Deaf;
pub use echo::Echo;
pub use exits::{EXITS, Exit};
pub use lane::{Lane, Pace};
pub use microsocks::Microsocks;
pub use nginx::{Nginx, Site};
pub use outbound::{http, outbound, socks, through, with};
pub use port::Port;
pub(crate) use programs::debian;
pub use programs::{
    api_checks, mihomo as mihomo_program, sing_box as sing_box_program, wasmtime_for_python,
};
pub use protocols::Protocols;
pub use relay::Relay;
pub use rival::{Core, Member, Rival};
pub use rude::{Manners, Rude};
pub use sing_box::{Inbound, SingBox};
pub use tinyproxy::Tinyproxy;
pub use udp_echo::UdpEcho;
pub use visitor::{Association, Visitor};
pub use wireguard::WireGuard;
pub use zashboard::Zashboard;
