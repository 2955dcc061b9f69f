//! `direct`: the target itself, by our own sockets or a detour.
//! It must not know any proxy.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Protocol;
use crate::core::options::Reader;
use crate::core::way::{Stream, Way};
use crate::proxy_core::{Datagrams, FetchError, Network, Target};

struct Direct;

#[derive(Deserialize)]
struct Fields {
    override_address: Option<Value>,
    override_port: Option<Value>,
    proxy_protocol: Option<Value>,
}

pub(super) fn read(
    options: Map<String, Value>,
    reader: &mut Reader<'_>,
) -> Option<Box<dyn Protocol>> {
    let fields: Fields = reader.read(options)?;
    let odd = [
        ("override_address", fields.override_address),
        ("override_port", fields.override_port),
        ("proxy_protocol", fields.proxy_protocol),
    ];
    for (name, found) in odd {
        if found.is_some() {
            reader.unsupported(format!(
                "its `{name}` is not done by the built-in core (nor by newer sing-box); remove it"
            ));
        }
    }
    Some(Box::new(Direct))
}

#[async_trait]
impl Protocol for Direct {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        way.connect(target).await
    }

    fn carrier_of_datagrams(&self) -> Option<Network> {
        Some(Network::Udp)
    }

    async fn associate(&self, way: &mut Way<'_>) -> Result<Box<dyn Datagrams>, FetchError> {
        way.datagrams().await
    }

    fn exit_follows_host(&self) -> bool {
        true
    }
}
