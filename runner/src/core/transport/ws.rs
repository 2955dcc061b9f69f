//! The transport `ws`: a WebSocket whose binary messages are the stream's bytes.
//! It must not know what the bytes are.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures::{Sink, Stream as _};
use http::header::{
    HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{Error, ProtocolError};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

use super::httpupgrade::{agreed, request};
use super::{Names, complete, path};
use crate::core::options::{Headers, Reader};
use crate::core::upgrade::upgrade;
use crate::core::way::Stream;
use crate::proxy_core::{Cause, FetchError, Phase};

/// The most bytes of a message that comes: servers send what one read gave them, some
/// ten thousand.
const MESSAGE_LIMIT: usize = 1024 * 1024;

/// The most bytes that are sent as one message.
const SENT_AT_ONCE: usize = 64 * 1024;

/// What is read of the connection at once; kept for its whole life.
const READ_BUFFER: usize = 16 * 1024;

/// The most early data whatever the config says: servers take no longer heads.
const EARLY_LIMIT: u32 = 8 * 1024;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    path: String,
    headers: Headers,
    max_early_data: u32,
    early_data_header_name: String,
}

/// The transport, as one outbound has it.
pub(in crate::core) struct WebSocket {
    path: String,
    headers: HeaderMap,
    early_data: usize,
    /// Where early data goes; at the end of the path if none.
    early_header: Option<HeaderName>,
}

impl WebSocket {
    pub(super) fn read(
        fields: Map<String, Value>,
        names: &Names<'_>,
        reader: &mut Reader<'_>,
    ) -> Option<Self> {
        let fields: Fields = reader.read_at("transport", fields)?;
        let headers = fields.headers.read("transport.headers", reader)?;
        let early_header = match fields.early_data_header_name.as_str() {
            "" => None,
            name => match HeaderName::from_bytes(name.as_bytes()) {
                Ok(name) => Some(name),
                Err(_) => {
                    let field = "transport.early_data_header_name";
                    reader.error(field, format!("`{name}` is no name of a header"));
                    return None;
                }
            },
        };
        Some(Self {
            path: path(&fields.path, reader)?,
            headers: complete(headers, &names.server.to_string(), reader)?,
            early_data: fields.max_early_data.min(EARLY_LIMIT) as usize,
            early_header,
        })
    }

    /// How many of the first bytes go along with the handshake.
    pub(super) fn early_data(&self) -> usize {
        self.early_data
    }

    /// Does the handshake with `peer`, which takes `early` along.
    pub(super) async fn open(
        &self,
        stream: Stream,
        peer: &str,
        early: &[u8],
    ) -> Result<Stream, FetchError> {
        let key = generate_key();
        let (path, headers) = self.head(&key, early);
        let request = request(&path, headers, peer)?;
        let accept = derive_accept_key(key.as_bytes());
        let stream = upgrade(stream, request, peer, |response| {
            agreed(response, peer)?;
            match response.headers().get(SEC_WEBSOCKET_ACCEPT) {
                Some(found) if found.as_bytes() == accept.as_bytes() => Ok(()),
                _ => {
                    let text = format!("{peer} does not speak WebSocket (a wrong accept key)");
                    Err(FetchError::new(Phase::Proxy, Cause::ProxyHandshake, text))
                }
            }
        })
        .await?;
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            // Each message goes out at once, as bytes do on a plain connection.
            .write_buffer_size(0)
            .max_message_size(Some(MESSAGE_LIMIT))
            .max_frame_size(Some(MESSAGE_LIMIT));
        let messages = WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await;
        Ok(Box::new(Bytewise {
            messages,
            left: Bytes::new(),
        }))
    }

    fn head(&self, key: &str, early: &[u8]) -> (String, HeaderMap) {
        let (mut path, mut headers) = (self.path.clone(), self.headers.clone());
        let plain = |text: &str| HeaderValue::from_str(text).expect("base64 is plain text");
        headers.insert(SEC_WEBSOCKET_KEY, plain(key));
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        if !early.is_empty() {
            let early = URL_SAFE_NO_PAD.encode(early);
            match &self.early_header {
                Some(name) => drop(headers.insert(name, plain(&early))),
                None => path.insert_str(path.find('?').unwrap_or(path.len()), &early),
            }
        }
        (path, headers)
    }
}

/// The messages of a WebSocket as one stream of bytes.
struct Bytewise {
    messages: WebSocketStream<Stream>,
    /// What is left of the last message.
    left: Bytes,
}

impl AsyncRead for Bytewise {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.left.is_empty() {
            match ready!(Pin::new(&mut this.messages).poll_next(cx)) {
                Some(Ok(Message::Binary(bytes))) => this.left = bytes,
                Some(Ok(Message::Close(_))) | None => return Poll::Ready(Ok(())),
                // Pings are answered by the crate; text is for nobody.
                Some(Ok(_)) => {}
                // Servers often close without saying goodbye.
                Some(Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake))) => {
                    return Poll::Ready(Ok(()));
                }
                Some(Err(error)) => return Poll::Ready(Err(of_message(error))),
            }
        }
        let length = this.left.len().min(buf.remaining());
        buf.put_slice(&this.left.split_to(length));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Bytewise {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut messages = Pin::new(&mut self.get_mut().messages);
        ready!(messages.as_mut().poll_ready(cx)).map_err(of_message)?;
        let (now, _) = buf.split_at(buf.len().min(SENT_AT_ONCE));
        if !now.is_empty() {
            let message = Message::Binary(Bytes::copy_from_slice(now));
            messages.start_send(message).map_err(of_message)?;
        }
        Poll::Ready(Ok(now.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let messages = Pin::new(&mut self.get_mut().messages);
        messages.poll_flush(cx).map_err(of_message)
    }

    /// A WebSocket has no half that could be closed alone: a close message would also
    /// end the answers that are still to come. Dropping it closes the connection.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

fn of_message(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        Error::ConnectionClosed | Error::AlreadyClosed => io::ErrorKind::BrokenPipe.into(),
        error => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}
