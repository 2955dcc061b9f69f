//! `vless` without flow: a user's id and a target, told once at the start of a
//! connection. It must not know how the server is reached.

mod plain;
mod xudp;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use uuid::Uuid;

use self::plain::Plain;
use self::xudp::Xudp;
use super::{Protocol, read_networks};
use crate::core::carrier::Carrier;
use crate::core::opening::Peer;
use crate::core::options::{ELSEWHERE, Reader, Strings};
use crate::core::over_stream::OverStream;
use crate::core::tls::TlsConfigs;
use crate::core::way::{Stream, Way};
use crate::proxy_core::{Datagrams, FetchError, Network, Target};
use crate::socks::address::{Kinds, write_host};

/// The only version of the protocol.
const VERSION: u8 = 0;

/// The command of a TCP stream.
const CONNECT: u8 = 1;
/// The command of datagrams to one target.
const DATAGRAMS: u8 = 2;
/// The command of many streams or datagrams on one, each with a head of its own.
const MULTIPLEX: u8 = 3;

/// How it writes hosts.
const KINDS: Kinds = [1, 2, 3];

struct Vless {
    carrier: Carrier,
    user: Uuid,
    /// How it carries datagrams, if it does.
    encoding: Option<Encoding>,
}

/// sing-box's `packet_encoding`.
#[derive(Clone, Copy)]
enum Encoding {
    /// One target, told in the request.
    Plain,
    Xudp,
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
    packet_encoding: Option<String>,
}

pub(super) fn read(
    mut options: Map<String, Value>,
    reader: &mut Reader<'_>,
    configs: &mut TlsConfigs,
) -> Option<Box<dyn Protocol>> {
    let carrier = Carrier::read(&mut options, reader, configs);
    let fields: Fields = reader.read(options)?;
    let udp = read_networks(&fields.network.0, reader);
    let encoding = match fields.packet_encoding.as_deref() {
        // As in sing-box.
        None | Some("xudp") => Some(Encoding::Xudp),
        Some("") => Some(Encoding::Plain),
        // It carries streams all the same.
        Some(_) => None,
    };
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
        encoding: encoding.filter(|_| udp),
    }))
}

/// A text that is no UUID stands for one, as in every other client.
fn user(text: &str) -> Uuid {
    Uuid::parse_str(text).unwrap_or_else(|_| Uuid::new_v5(&Uuid::nil(), text.as_bytes()))
}

#[async_trait]
impl Protocol for Vless {
    async fn dial(&self, way: &mut Way<'_>, target: &Target) -> Result<Stream, FetchError> {
        let target = way.remote(target).await?;
        let mut request = self.request(CONNECT);
        request.extend(target.port.to_be_bytes());
        write_host(&mut request, &target.host, KINDS)?;
        let peer = self.peer(way);
        self.carrier.open(way, peer, request, Answers::of).await
    }

    fn carrier_of_datagrams(&self) -> Option<Network> {
        self.encoding.map(|_| Network::Tcp)
    }

    async fn associate(&self, way: &mut Way<'_>) -> Result<Box<dyn Datagrams>, FetchError> {
        let peer = self.peer(way);
        let name = peer.proxy.to_string();
        let command = match self.encoding {
            Some(Encoding::Xudp) => MULTIPLEX,
            Some(Encoding::Plain) | None => DATAGRAMS,
        };
        let request = self.request(command);
        let stream = self.carrier.open(way, peer, request, Answers::of).await?;
        Ok(match self.encoding {
            Some(Encoding::Xudp) => OverStream::new(name, stream, Xudp::default()),
            Some(Encoding::Plain) | None => OverStream::new(name, stream, Plain::default()),
        })
    }
}

impl Vless {
    fn peer(&self, way: &Way<'_>) -> Peer {
        Peer {
            proxy: way.proxy("VLESS server", self.carrier.server()),
            silence: "it may know another uuid, or not reach the target",
        }
    }

    /// As far as the target.
    fn request(&self, command: u8) -> Vec<u8> {
        let mut request = Vec::with_capacity(64);
        request.push(VERSION);
        request.extend(self.user.as_bytes());
        // No additions.
        request.push(0);
        request.push(command);
        request
    }
}

/// The server's stream without the head of its answer.
struct Answers {
    stream: Stream,
    head: Head,
}

impl Answers {
    fn of(stream: Stream) -> Stream {
        let head = Head::Version;
        Box::new(Self { stream, head })
    }
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
