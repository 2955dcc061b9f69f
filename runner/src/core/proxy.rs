//! What people are told a proxy is: put into words only where something is said of it. It
//! must not know what that is.

use std::fmt;

use crate::proxy_core::Target;

/// The server of an outbound, such as "the SOCKS proxy 192.0.2.1:1080 of `tag`".
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    pub(super) kind: &'static str,
    pub(super) server: Target,
    pub(super) tag: String,
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, server, tag } = self;
        write!(f, "the {kind} {server} of `{tag}`")
    }
}
