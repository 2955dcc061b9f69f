//! Datagrams of shadowsocks: each sealed by itself, the target inside. It must not know how
//! they reach the server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::BytesMut;
use shadowsocks::config::ServerConfig;
use shadowsocks::crypto::CipherKind;
use shadowsocks::relay::socks5::Address;
use shadowsocks::relay::udprelay::crypto_io::{decrypt_server_payload, encrypt_client_payload};
use shadowsocks::relay::udprelay::options::UdpSocketControlData;

use super::replay::Sessions;
use super::{CONTEXT, address};
use crate::link::Link;
use crate::proxy_core::{Cause, Datagrams, FetchError, Phase, Target};
use crate::socks;

/// See the module.
pub(super) struct Sealed {
    link: Link,
    config: Arc<ServerConfig>,
    /// Of a 2022 method: by what the server tells this way from others.
    session: u64,
    next_packet: AtomicU64,
    heard: Mutex<Sessions>,
}

impl Sealed {
    /// Over a link to the server that `config` has the keys of.
    ///
    /// # Errors
    /// When the system has no random number.
    pub(super) fn new(link: Link, config: Arc<ServerConfig>) -> Result<Self, FetchError> {
        let failed = |error| {
            let text = format!("no random number for a session: {error}");
            FetchError::new(Phase::Dial, Cause::Other, text)
        };
        Ok(Self {
            link,
            config,
            session: getrandom::u64().map_err(failed)?,
            next_packet: AtomicU64::new(0),
            heard: Mutex::default(),
        })
    }

    /// The payload of a packet, and who sent it. None for what is not for us.
    fn open(&self, mut packet: Vec<u8>) -> Option<(Vec<u8>, Target)> {
        let method = self.config.method();
        if method == CipherKind::NONE {
            // The crate panics where this packet is cut short.
            let (source, start) = socks::address::parse(&packet).ok()??;
            return Some((packet.split_off(start), source.ok()?));
        }
        // Nor may a server that knows the key end more than its own packet by it.
        let decrypt = || decrypt_server_payload(&CONTEXT, method, self.config.key(), &mut packet);
        let opened = catch_unwind(AssertUnwindSafe(decrypt)).ok()?;
        let (length, source, control) = opened.ok()?;
        if let Some(control) = control {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            let ours = control.client_session_id == self.session;
            if !ours || !heard.is_new(control.server_session_id, control.packet_id) {
                return None;
            }
        }
        packet.truncate(length);
        Some((packet, target(source)?))
    }
}

#[async_trait]
impl Datagrams for Sealed {
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        let mut control = UdpSocketControlData::default();
        control.client_session_id = self.session;
        control.packet_id = self.next_packet.fetch_add(1, Ordering::Relaxed);
        let mut packet = BytesMut::new();
        encrypt_client_payload(
            &CONTEXT,
            self.config.method(),
            self.config.key(),
            &address(target)?,
            &control,
            self.config.identity_keys(),
            payload,
            &mut packet,
        );
        self.link.send(&packet).await
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        loop {
            let packet = self.link.receive().await?;
            if let Some(received) = self.open(packet) {
                return Ok(received);
            }
        }
    }
}

fn target(source: Address) -> Option<Target> {
    match source {
        Address::SocketAddress(address) => Some(address.into()),
        Address::DomainNameAddress(name, port) => {
            let host = crate::core::options::parse_host(&name)?;
            Some(Target {
                host,
                port,
                family: None,
            })
        }
    }
}
