//! `vless` without flow: a user's id and a target, told once at the start of a
//! connection. It must not know how the server is reached.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use uuid::Uuid;

use super::{Protocol, check_networks, put_host};
use crate::core::carrier::Carrier;
use crate::core::opening::Peer;
use crate::core::options::{ELSEWHERE, Reader, Strings};
use crate::core::tls::TlsConfigs;
use crate::core::way::{Stream, Way};
use crate::proxy_core::{FetchError, Target};

/// The only version of the protocol.
const VERSION: u8 = 0;

/// The command of a TCP stream.
const CONNECT: u8 = 1;

struct Vless {
    carrier: Carrier,
    user: Uuid,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    uuid: String,
    flow: String,
    encryption: String,
    network: Strings,
    // A server that speaks it takes plain connections too.
    multiplex: Option<Value>,
    // No matter for TCP.
    packet_encoding: Option<Value>,
}

pub(super) fn read(
    mut options: Map<String, Value>,
    reader: &mut Reader<'_>,
    configs: &mut TlsConfigs,
) -> Option<Box<dyn Protocol>> {
    let carrier = Carrier::read(&mut options, reader, configs);
    let fields: Fields = reader.read(options)?;
    check_networks(&fields.network.0, reader);
    if !fields.flow.is_empty() {
        reader.unsupported(format!(
            "its `flow` `{}` is not done by the built-in core; {ELSEWHERE}",
            fields.flow
        ));
    }
    if !["", "none"].contains(&fields.encryption.as_str()) {
        reader.unsupported(format!(
            "its `encryption` is not done by the built-in core; {ELSEWHERE}"
        ));
    }
    if fields.uuid.is_empty() {
        reader.error("uuid", "missing: a VLESS server knows its users by it");
    }
    Some(Box::new(Vless {
        carrier: carrier?,
        user: user(&fields.uuid),
    }))
}

/// A text that is no UUID stands for one, as in every other client.
fn user(text: &str) -> Uuid {
    Uuid::parse_str(text).unwrap_or_else(|_| Uuid::new_v5(&Uuid::nil(), text.as_bytes()))
}

#[async_trait]
impl Protocol for Vless {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        let server = self.carrier.server();
        let peer = Peer {
            name: format!("the VLESS server {server} of `{}`", way.tag()),
            silence: "it may know another uuid, or not reach the target",
        };
        let request = self.request(&way.remote(target).await?)?;
        let answers = |stream| -> Stream {
            Box::new(Answers {
                stream,
                head: Head::Version,
            })
        };
        self.carrier.open(way, peer, request, answers).await
    }
}

impl Vless {
    fn request(&self, target: &Target) -> Result<Vec<u8>, FetchError> {
        let mut request = Vec::with_capacity(64);
        request.push(VERSION);
        request.extend(self.user.as_bytes());
        // No additions.
        request.push(0);
        request.push(CONNECT);
        request.extend(target.port.to_be_bytes());
        put_host(&mut request, &target.host, [1, 2, 3])?;
        Ok(request)
    }
}

/// The server's stream without the head of its answer.
struct Answers {
    stream: Stream,
    head: Head,
}

/// Which part of the head comes next.
enum Head {
    Version,
    Length,
    /// So many bytes that say nothing to a client without flow.
    Additions(usize),
    Read,
}

impl Head {
    /// How many bytes there may be of this part.
    fn wanted(&self) -> usize {
        match self {
            Self::Version | Self::Length => 1,
            Self::Additions(left) => *left,
            Self::Read => 0,
        }
    }

    /// What comes after `part` of it.
    fn after(&self, part: &[u8]) -> io::Result<Self> {
        let left = match (self, part) {
            (Self::Version, &[VERSION]) => return Ok(Self::Length),
            (Self::Length, &[length]) => length.into(),
            (Self::Additions(left), part) => left.saturating_sub(part.len()),
            (Self::Version | Self::Length | Self::Read, _) => {
                let text = "its answer is in no known version of VLESS";
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        };
        Ok(match left {
            0 => Self::Read,
            left => Self::Additions(left),
        })
    }
}

impl AsyncRead for Answers {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while !matches!(this.head, Head::Read) {
            let mut bytes = [0; 255];
            let mut room = ReadBuf::new(&mut bytes);
            let mut part = room.take(this.head.wanted());
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut part))?;
            if part.filled().is_empty() {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            this.head = this.head.after(part.filled())?;
        }
        Pin::new(&mut this.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Answers {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
