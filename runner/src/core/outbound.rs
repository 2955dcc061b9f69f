//! The outbound types that this core dials, one room each.
//! It must not know how an outbound's server is reached: that is the way's matter.

mod block;
mod direct;
mod http;
mod shadowsocks;
mod socks;
mod trojan;
mod vless;

use std::net::IpAddr;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::options::{ELSEWHERE, Reader};
use super::tls::TlsConfigs;
use super::way::{Stream, Way};
use crate::proxy_core::{Cause, FetchError, Host, Phase, Target};

/// A type of outbound, with the options of one.
#[async_trait]
pub(super) trait Protocol: Send + Sync {
    /// Opens a stream to `target`, reaching what it needs by `way`.
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError>;

    /// Traffic leaves with the address of the host's own network.
    fn exit_follows_host(&self) -> bool {
        false
    }
}

/// Reads the options of an outbound of type `type_name`. None if they are wrong, which
/// `reader` has told, or if this core has no such type (D-6).
pub(super) fn read(
    type_name: &str,
    options: Map<String, Value>,
    reader: &mut Reader<'_>,
    configs: &mut TlsConfigs,
) -> Option<Box<dyn Protocol>> {
    match type_name {
        "direct" => direct::read(options, reader),
        "block" => block::read(options, reader),
        "socks" => socks::read(options, reader),
        "http" => http::read(options, reader, configs),
        "shadowsocks" => shadowsocks::read(options, reader),
        "trojan" => trojan::read(options, reader, configs),
        "vless" => vless::read(options, reader, configs),
        "dns" => {
            reader.unsupported("a `dns` outbound answers DNS queries and opens no streams");
            None
        }
        _ => {
            reader.unsupported(format!(
                "the built-in core has no `{type_name}`; {ELSEWHERE}, or when Outwatch is \
                 embedded in a core that has it"
            ));
            None
        }
    }
}

/// sing-box's `network`: what an outbound is to be used for; both when empty.
fn check_networks(names: &[String], reader: &mut Reader<'_>) {
    if let Some(other) = names
        .iter()
        .find(|name| !["tcp", "udp"].contains(&name.as_str()))
    {
        reader.error("network", format!("`{other}` is neither `tcp` nor `udp`"));
    } else if !names.is_empty() && !names.iter().any(|name| name == "tcp") {
        reader.unsupported("its `network` leaves out `tcp`, which a test needs");
    }
}

/// Adds a host to a request as proxy protocols write it: the byte for its kind, of IPv4, of
/// a name and of IPv6, and then the address, or the name after its length.
fn put_host(request: &mut Vec<u8>, host: &Host, kinds: [u8; 3]) -> Result<(), FetchError> {
    let [ipv4, name, ipv6] = kinds;
    match host {
        Host::Ip(IpAddr::V4(ip)) => {
            request.push(ipv4);
            request.extend(ip.octets());
        }
        Host::Name(text) => {
            request.push(name);
            request.push(length_of(text)?);
            request.extend(text.as_bytes());
        }
        Host::Ip(IpAddr::V6(ip)) => {
            request.push(ipv6);
            request.extend(ip.octets());
        }
    }
    Ok(())
}

/// The length of a name, as the one byte that proxy protocols have for it.
fn length_of(name: &str) -> Result<u8, FetchError> {
    u8::try_from(name.len()).map_err(|_| {
        let text = "the name of the target is too long for a proxy to be asked for";
        FetchError::new(Phase::Proxy, Cause::Unsupported, text)
    })
}
