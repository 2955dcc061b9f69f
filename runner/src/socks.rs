//! What both sides of SOCKS 5 share, the client's side of its UDP included. It must not
//! know who listens, nor how a proxy is reached.

pub(crate) mod address;
pub(crate) mod association;
pub(crate) mod datagram;
