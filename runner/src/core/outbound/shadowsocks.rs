//! `shadowsocks`: everything encrypted with a key that both sides know, the target
//! first. It must not know how the server is reached.

mod datagrams;
mod replay;
mod steady;
mod whole_head;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};
use shadowsocks::ProxyClientStream;
use shadowsocks::config::{ServerConfig, ServerConfigError, ServerType};
use shadowsocks::context::{Context, SharedContext};
use shadowsocks::crypto::CipherKind;
use shadowsocks::relay::socks5::Address;
use tokio::io::AsyncWriteExt;

use self::datagrams::Sealed;
use self::steady::Steady;
use self::whole_head::WholeHead;
use super::{Protocol, read_networks};
use crate::core::opening::{Opening, Peer};
use crate::core::options::{ELSEWHERE, Reader, Server, Strings, take};
use crate::core::way::{Stream, Way};
use crate::proxy_core::{Datagrams, FetchError, Host, Network, Target};
use crate::socks::address::length_of;

/// The methods by their names in a config.
const METHODS: [(&str, CipherKind); 7] = [
    ("none", CipherKind::NONE),
    ("aes-128-gcm", CipherKind::AES_128_GCM),
    ("aes-256-gcm", CipherKind::AES_256_GCM),
    ("chacha20-ietf-poly1305", CipherKind::CHACHA20_POLY1305),
    (
        "2022-blake3-aes-128-gcm",
        CipherKind::AEAD2022_BLAKE3_AES_128_GCM,
    ),
    (
        "2022-blake3-aes-256-gcm",
        CipherKind::AEAD2022_BLAKE3_AES_256_GCM,
    ),
    (
        "2022-blake3-chacha20-poly1305",
        CipherKind::AEAD2022_BLAKE3_CHACHA20_POLY1305,
    ),
];

struct Shadowsocks {
    server: Target,
    method: CipherKind,
    /// The keys; its server is not dialed by the crate.
    config: Arc<ServerConfig>,
    udp: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    method: String,
    password: String,
    plugin: String,
    network: Strings,
    // Means something together with a plugin only.
    plugin_opts: Option<Value>,
    // A server that speaks it takes plain connections too.
    multiplex: Option<Value>,
    // A server that speaks it takes datagrams too.
    udp_over_tcp: Option<Value>,
}

pub(super) fn read(
    mut options: Map<String, Value>,
    reader: &mut Reader<'_>,
) -> Option<Box<dyn Protocol>> {
    let server = reader.read::<Server>(take(&mut options, Server::NAMES));
    let fields: Fields = reader.read(options)?;
    let udp = read_networks(&fields.network.0, reader);
    if !fields.plugin.is_empty() {
        reader.unsupported(format!(
            "its `plugin` `{}` is not done by the built-in core; {ELSEWHERE}",
            fields.plugin
        ));
    }
    let method = method(&fields.method, reader)?;
    let config = config(method, fields.password, reader)?;
    Some(Box::new(Shadowsocks {
        server: server?.into_target(),
        method,
        config: Arc::new(config),
        udp,
    }))
}

fn method(name: &str, reader: &mut Reader<'_>) -> Option<CipherKind> {
    if name.is_empty() {
        reader.error("method", "missing; one is `2022-blake3-aes-128-gcm`");
        return None;
    }
    let found = METHODS.iter().find(|(known, _)| *known == name);
    if found.is_none() {
        reader.unsupported(format!(
            "its `method` `{name}` is not done by the built-in core; {ELSEWHERE}"
        ));
    }
    found.map(|(_, method)| *method)
}

fn config(method: CipherKind, password: String, reader: &mut Reader<'_>) -> Option<ServerConfig> {
    let password = match method {
        CipherKind::NONE => String::new(),
        _ if password.is_empty() => {
            reader.error("password", "missing: the key of the method comes from it");
            return None;
        }
        _ => password,
    };
    let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
    // What the crate says of a wrong password may show parts of it.
    let message = match ServerConfig::new(nowhere, password, method) {
        Ok(config) => return Some(config),
        Err(
            ServerConfigError::InvalidKeyLength(_, wanted, found)
            | ServerConfigError::InvalidUserKeyLength(_, wanted, found),
        ) => format!("`{method}` needs a key of {wanted} bytes (found {found})"),
        Err(
            ServerConfigError::InvalidKeyEncoding(..)
            | ServerConfigError::InvalidUserKeyEncoding(..),
        ) => format!("`{method}` needs a key in base64, or several with `:` between"),
    };
    reader.error("password", message);
    None
}

#[async_trait]
impl Protocol for Shadowsocks {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        let peer = Peer {
            proxy: way.proxy("shadowsocks server", &self.server),
            silence: if self.method.is_aead_2022() {
                "it may know another password or method, have a clock that differs by more than \
                 30 s, or not reach the target"
            } else {
                "it may know another password or method, or not reach the target"
            },
        };
        let target = address(&way.remote(target).await?)?;
        let stream = way.connect(&self.server).await?;
        if self.method == CipherKind::NONE {
            return Ok(Opening::new(peer, |payload| plain(stream, target, payload)));
        }
        let context = Arc::clone(&CONTEXT);
        let stream = WholeHead::new(stream, head_length(self.method));
        let stream = ProxyClientStream::from_stream(context, stream, &self.config, target);
        Ok(Opening::new(peer, |payload| encrypted(stream, payload)))
    }

    fn carrier_of_datagrams(&self) -> Option<Network> {
        self.udp.then_some(Network::Udp)
    }

    async fn associate(&self, way: &mut Way<'_>) -> Result<Box<dyn Datagrams>, FetchError> {
        let link = way.link(&self.server).await?;
        Ok(Box::new(Sealed::new(link, Arc::clone(&self.config))?))
    }
}

/// Remembers nonces, so that none is used twice by this process.
static CONTEXT: LazyLock<SharedContext> = LazyLock::new(|| Context::new_shared(ServerType::Local));

/// How many bytes at the start of an answer belong together: in a 2022 method the salt,
/// then encrypted a type, a time, the salt of the request, a length, and a tag.
fn head_length(method: CipherKind) -> usize {
    match method.is_aead_2022() {
        true => method.salt_len() + 1 + 8 + method.salt_len() + 2 + method.tag_len(),
        false => 0,
    }
}

fn address(target: &Target) -> Result<Address, FetchError> {
    Ok(match &target.host {
        Host::Ip(ip) => Address::SocketAddress(SocketAddr::new(*ip, target.port)),
        Host::Name(name) => {
            length_of(name)?;
            Address::DomainNameAddress(name.clone(), target.port)
        }
    })
}

/// The crate expects a plain stream to take all of a first write, which ours need not.
async fn plain(mut stream: Stream, target: Address, payload: Vec<u8>) -> io::Result<Stream> {
    let mut first = Vec::with_capacity(target.serialized_len() + payload.len());
    target.write_to_buf(&mut first);
    first.extend(payload);
    stream.write_all(&first).await?;
    stream.flush().await?;
    Ok(stream)
}

/// Writes once: a first write sends the target, even when there is nothing to add.
async fn encrypted(
    mut stream: ProxyClientStream<WholeHead>,
    payload: Vec<u8>,
) -> io::Result<Stream> {
    let written = stream.write(&payload).await?;
    if let Some(rest) = payload.get(written..) {
        stream.write_all(rest).await?;
    }
    stream.flush().await?;
    Ok(Box::new(Steady::new(stream)))
}
