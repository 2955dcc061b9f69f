//! Datagrams one after the other on a stream to a proxy, as trojan and VLESS carry them.
//! It must not know how either writes one down.

use std::io;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::{SinkExt as _, StreamExt as _};
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::sync::{Mutex, SetOnce};
use tokio_util::codec::{Decoder, Encoder, FramedRead, FramedWrite};

use super::way::Stream;
use crate::fetch::of_io;
use crate::proxy_core::{Cause, Datagrams, FetchError, Phase, Target};

/// A datagram to be sent, and to whom.
pub(super) type Outgoing<'a> = (&'a [u8], &'a Target);

/// A datagram that came, and from whom.
pub(super) type Incoming = (Bytes, Target);

/// How a protocol writes datagrams down.
pub(super) trait Codec: Clone + Send + 'static {
    /// Appends a datagram.
    fn write(&mut self, datagram: Outgoing<'_>, to: &mut BytesMut) -> io::Result<()>;

    /// Takes the first datagram out of what came; none while it is cut short.
    fn read(&mut self, from: &mut BytesMut) -> io::Result<Option<Incoming>>;
}

/// A codec as the framed streams want it.
struct Frames<C>(C);

impl<C: Codec> Encoder<Outgoing<'_>> for Frames<C> {
    type Error = io::Error;

    fn encode(&mut self, datagram: Outgoing<'_>, to: &mut BytesMut) -> io::Result<()> {
        self.0.write(datagram, to)
    }
}

impl<C: Codec> Decoder for Frames<C> {
    type Item = Incoming;
    type Error = io::Error;

    fn decode(&mut self, from: &mut BytesMut) -> io::Result<Option<Incoming>> {
        self.0.read(from)
    }

    /// What is cut short is none.
    fn decode_eof(&mut self, from: &mut BytesMut) -> io::Result<Option<Incoming>> {
        self.0.read(from)
    }
}

/// See the module.
pub(super) struct OverStream<C> {
    /// Such as "the trojan server 192.0.2.1:443 of `tag`".
    proxy: String,
    sender: Mutex<FramedWrite<WriteHalf<Stream>, Frames<C>>>,
    receiver: Mutex<FramedRead<ReadHalf<Stream>, Frames<C>>>,
    /// What came of the first datagram: it goes along with the request, which reading before
    /// would send alone.
    sent: SetOnce<Result<(), FetchError>>,
}

impl<C: Codec> OverStream<C> {
    /// On `stream`, which leads to `proxy`. What is written and what is read have a codec
    /// each.
    pub(super) fn new(proxy: String, stream: Stream, codec: C) -> Box<Self> {
        let (read, write) = split(stream);
        Box::new(Self {
            proxy,
            sender: Mutex::new(FramedWrite::new(write, Frames(codec.clone()))),
            receiver: Mutex::new(FramedRead::new(read, Frames(codec))),
            sent: SetOnce::new(),
        })
    }

    fn failure(&self, error: &io::Error) -> FetchError {
        of_io(Phase::Proxy, &self.proxy, error)
    }
}

#[async_trait]
impl<C: Codec> Datagrams for OverStream<C> {
    /// A future that is dropped cuts no datagram: the next one sends the rest first.
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        let mut sender = self.sender.lock().await;
        let lost = |error| self.failure(&error);
        sender.feed((payload, target)).await.map_err(lost)?;
        let sent = sender.flush().await.map_err(lost);
        // An error says that it was set before.
        let _ = self.sent.set(sent.clone());
        sent
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        self.sent.wait().await.clone()?;
        let received = self.receiver.lock().await.next().await;
        let end = || Err(io::ErrorKind::UnexpectedEof.into());
        match received.unwrap_or_else(end) {
            Ok((payload, source)) => Ok((payload.into(), source)),
            Err(error) => Err(self.failure(&error)),
        }
    }
}

/// The length of a datagram, as the two bytes that both protocols have for it.
///
/// # Errors
/// It does not fit.
pub(super) fn length_of(payload: &[u8]) -> io::Result<u16> {
    u16::try_from(payload.len()).map_err(|_| {
        let text = "the datagram is too long for a proxy";
        io::Error::other(FetchError::new(Phase::Proxy, Cause::Unsupported, text))
    })
}

/// What came is written in no way that the protocol knows.
pub(super) fn malformed(protocol: &str) -> io::Error {
    let text = format!("the server's answer is no {protocol}");
    io::Error::other(FetchError::new(Phase::Proxy, Cause::ProxyHandshake, text))
}
