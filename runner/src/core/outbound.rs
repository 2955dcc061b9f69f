//! The outbound types that this core dials, one room each.
//! It must not know how an outbound's server is reached: that is the way's matter.

mod block;
mod direct;
mod http;
mod shadowsocks;
mod socks;
mod trojan;
mod vless;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::options::{ELSEWHERE, Reader};
use super::tls::TlsConfigs;
use super::way::{Stream, Way};
use crate::proxy_core::{Cause, Datagrams, FetchError, Network, Phase, Target};

/// A type of outbound, with the options of one.
#[async_trait]
pub(super) trait Protocol: Send + Sync {
    /// Opens a stream to `target`, reaching what it needs by `way`.
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError>;

    /// What takes its datagrams to its server; none where it carries none.
    fn carrier_of_datagrams(&self) -> Option<Network> {
        None
    }

    /// Opens a way for datagrams, reaching what it needs by `way`. Only called where there
    /// is something that takes them.
    async fn associate(&self, way: &mut Way<'_>) -> Result<Box<dyn Datagrams>, FetchError> {
        Err(no_datagrams(way.tag()))
    }

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

/// What is said where datagrams are wanted of an outbound that carries none.
pub(super) fn no_datagrams(tag: &str) -> FetchError {
    let text = format!("`{tag}` carries no datagrams");
    FetchError::new(Phase::Dial, Cause::Unsupported, text)
}

/// sing-box's `network`: what an outbound is to be used for; both when empty. Says whether
/// that is UDP too.
fn read_networks(names: &[String], reader: &mut Reader<'_>) -> bool {
    let has = |name| names.is_empty() || names.iter().any(|named| named == name);
    if let Some(other) = names
        .iter()
        .find(|name| !["tcp", "udp"].contains(&name.as_str()))
    {
        reader.error("network", format!("`{other}` is neither `tcp` nor `udp`"));
    } else if !has("tcp") {
        reader.unsupported("its `network` leaves out `tcp`, which a test needs");
    }
    has("udp")
}
