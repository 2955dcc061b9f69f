//! `trojan`: a password and a target, told once at the start of a TLS connection.
//! It must not know how the server is reached.

mod datagrams;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha224};

use self::datagrams::Packets;
use super::{Protocol, read_networks};
use crate::core::carrier::Carrier;
use crate::core::opening::Peer;
use crate::core::options::{Reader, Strings};
use crate::core::over_stream::OverStream;
use crate::core::tls::TlsConfigs;
use crate::core::way::{Stream, Way};
use crate::proxy_core::{Datagrams, FetchError, Network, Target};
use crate::socks::address;

/// The command of a TCP stream.
const CONNECT: u8 = 1;
/// The command of datagrams.
const ASSOCIATE: u8 = 3;

const CRLF: &[u8] = b"\r\n";

struct Trojan {
    carrier: Carrier,
    /// What is sent of the password: its SHA-224, in hexadecimal digits.
    key: String,
    udp: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    password: String,
    network: Strings,
    // A server that speaks it takes plain connections too.
    multiplex: Option<Value>,
}

pub(super) fn read(
    mut options: Map<String, Value>,
    reader: &mut Reader<'_>,
    configs: &mut TlsConfigs,
) -> Option<Box<dyn Protocol>> {
    let carrier = Carrier::read(&mut options, reader, configs);
    let fields: Fields = reader.read(options)?;
    let udp = read_networks(&fields.network.0, reader);
    if fields.password.is_empty() {
        reader.error("password", "missing: a trojan server knows its users by it");
    }
    let key = format!("{:x}", Sha224::digest(&fields.password));
    Some(Box::new(Trojan {
        carrier: carrier?,
        key,
        udp,
    }))
}

#[async_trait]
impl Protocol for Trojan {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        let mut request = self.request(CONNECT);
        address::write(&mut request, &way.remote(target).await?)?;
        request.extend(CRLF);
        let peer = self.peer(way);
        self.carrier.open(way, peer, request, |stream| stream).await
    }

    fn carrier_of_datagrams(&self) -> Option<Network> {
        self.udp.then_some(Network::Tcp)
    }

    async fn associate(&self, way: &mut Way<'_>) -> Result<Box<dyn Datagrams>, FetchError> {
        let (peer, request) = (self.peer(way), self.request(ASSOCIATE));
        let name = peer.proxy.to_string();
        let stream = self
            .carrier
            .open(way, peer, request, |stream| stream)
            .await?;
        Ok(OverStream::new(name, stream, Packets::default()))
    }
}

impl Trojan {
    fn peer(&self, way: &Way<'_>) -> Peer {
        Peer {
            proxy: way.proxy("trojan server", self.carrier.server()),
            silence: "it may know another password, or not reach the target",
        }
    }

    /// As far as the target.
    fn request(&self, command: u8) -> Vec<u8> {
        let mut request = Vec::with_capacity(128);
        request.extend(self.key.as_bytes());
        request.extend(CRLF);
        request.push(command);
        request
    }
}
