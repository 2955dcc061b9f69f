//! What carries a proxy protocol to its server: the connection, TLS and transport of an
//! outbound, in that order. It must not know the protocol.

use std::io;

use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt;

use super::opening::{Opening, Peer};
use super::options::{Reader, Server, take};
use super::tls::{Tls, TlsConfigs, TlsFields};
use super::transport::{Names, Transport};
use super::way::{Stream, Way};
use crate::proxy_core::{FetchError, Target};

/// How the server of one outbound is reached.
pub(super) struct Carrier {
    server: Target,
    tls: Option<Tls>,
    transport: Transport,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    tls: Option<TlsFields>,
    transport: Option<Map<String, Value>>,
}

impl Carrier {
    const NAMES: &[&str] = &["tls", "transport"];

    /// Takes its fields out of `options`; none if they are wrong, which `reader` has
    /// been told.
    pub(super) fn read(
        options: &mut Map<String, Value>,
        reader: &mut Reader<'_>,
        configs: &mut TlsConfigs,
    ) -> Option<Self> {
        let server = reader.read::<Server>(take(options, Server::NAMES));
        let fields = reader.read::<Fields>(take(options, Self::NAMES));
        let (server, mut fields) = (server?.into_target(), fields?);
        let names = Names {
            server: &server,
            tls: fields.tls.as_ref().and_then(TlsFields::name_asked_for),
        };
        let transport = fields.transport.unwrap_or_default();
        let transport = Transport::read(transport, &names, reader);
        if let (Some(tls), Some(protocol)) = (
            &mut fields.tls,
            transport.as_ref().and_then(Transport::alpn),
        ) {
            tls.offer_at_least(protocol);
        }
        let tls = fields.tls;
        Some(Self {
            tls: tls.and_then(|tls| Tls::new(tls, &server.host, reader, configs)),
            transport: transport?,
            server,
        })
    }

    /// The server.
    pub(super) fn server(&self) -> &Target {
        &self.server
    }

    /// A stream to the server, on which `request` goes first, together with what is
    /// written first; `answers` reads what comes back.
    ///
    /// # Errors
    /// Those of the connection, TLS and the transport. With early data, those of the
    /// transport are the stream's.
    pub(super) async fn open(
        &self,
        way: &mut Way<'_>,
        peer: Peer,
        request: Vec<u8>,
        answers: impl FnOnce(Stream) -> Stream + Send + 'static,
    ) -> Result<Stream, FetchError> {
        let stream = way.connect(&self.server).await?;
        way.progress.shaking_hands(peer.proxy.clone());
        let name = peer.proxy.to_string();
        let stream = match &self.tls {
            Some(tls) => tls.wrap(stream, &name).await?,
            None => stream,
        };
        // Servers read a request in one piece, so none is cut.
        let (stream, late) = match self.transport.early_data() >= request.len() {
            true => (stream, self.transport.clone()),
            false => {
                let (stream, _) = self.transport.open(stream, &name, &[]).await?;
                (stream, Transport::Plain)
            }
        };
        Ok(Opening::new(peer, move |payload| async move {
            let mut first = request;
            first.extend(payload);
            let opened = late.open(stream, &name, &first).await;
            let (mut stream, taken) = opened.map_err(io::Error::other)?;
            if let Some(rest) = first.get(taken..).filter(|rest| !rest.is_empty()) {
                stream.write_all(rest).await?;
                stream.flush().await?;
            }
            Ok(answers(stream))
        }))
    }
}
