//! `trojan`: a password and a target, told once at the start of a TLS connection.
//! It must not know how the server is reached.

use std::fmt::Write as _;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha224};

use super::{Protocol, check_networks, put_host};
use crate::core::carrier::Carrier;
use crate::core::opening::Peer;
use crate::core::options::{Reader, Strings};
use crate::core::tls::TlsConfigs;
use crate::core::way::{Stream, Way};
use crate::proxy_core::{FetchError, Target};

/// The command of a TCP stream.
const CONNECT: u8 = 1;

const CRLF: &[u8] = b"\r\n";

struct Trojan {
    carrier: Carrier,
    /// What is sent of the password: its SHA-224, in hexadecimal digits.
    key: String,
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
    check_networks(&fields.network.0, reader);
    if fields.password.is_empty() {
        reader.error("password", "missing: a trojan server knows its users by it");
    }
    let digest = Sha224::digest(fields.password.as_bytes());
    let key = digest.iter().fold(String::new(), |mut key, byte| {
        let _ = write!(key, "{byte:02x}");
        key
    });
    Some(Box::new(Trojan {
        carrier: carrier?,
        key,
    }))
}

#[async_trait]
impl Protocol for Trojan {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        let server = self.carrier.server();
        let peer = Peer {
            name: format!("the trojan server {server} of `{}`", way.tag()),
            silence: "it may know another password, or not reach the target",
        };
        let request = self.request(&way.remote(target).await?)?;
        self.carrier.open(way, peer, request, |stream| stream).await
    }
}

impl Trojan {
    fn request(&self, target: &Target) -> Result<Vec<u8>, FetchError> {
        let mut request = Vec::with_capacity(128);
        request.extend(self.key.as_bytes());
        request.extend(CRLF);
        request.push(CONNECT);
        put_host(&mut request, &target.host, [1, 3, 4])?;
        request.extend(target.port.to_be_bytes());
        request.extend(CRLF);
        Ok(request)
    }
}
