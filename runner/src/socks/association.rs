//! UDP of SOCKS 5 as its client: an association is asked for on a stream, and lasts as
//! long as that. It must not know how the proxy is reached.

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio_socks::Error;

use super::{address, datagram};
use crate::fetch::of_io;
use crate::link::Link;
use crate::proxy_core::{Datagrams, FetchError, Host, Io, Phase, Target};

/// Methods to show who one is: not at all, and by name and password (RFC 1929).
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;

/// Asks for an association on a new stream to the proxy `server`, as a user with a
/// password where there is one. Gives where datagrams are to be sent.
///
/// # Errors
/// As the same server would refuse a connection.
pub(crate) async fn ask(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    server: &Host,
    login: Option<(&str, &str)>,
) -> Result<Target, Error> {
    let method = match login {
        None => NO_AUTHENTICATION,
        Some(_) => PASSWORD,
    };
    stream.write_all(&[5, 1, method]).await?;
    match read(stream).await? {
        [5, chosen] if chosen == method => {}
        [5, _] => return Err(Error::NoAcceptableAuthMethods),
        _ => return Err(Error::InvalidResponseVersion),
    }
    if let Some((user, password)) = login {
        let mut message = vec![1];
        for text in [user, password] {
            let too_long = |_| Error::InvalidAuthValues("longer than 255 bytes");
            message.push(u8::try_from(text.len()).map_err(too_long)?);
            message.extend(text.as_bytes());
        }
        stream.write_all(&message).await?;
        match read(stream).await? {
            [_, 0] => {}
            [_, code] => return Err(Error::PasswordAuthFailure(code)),
        }
    }
    // From which address datagrams will come, nobody knows yet.
    stream.write_all(&[5, 3, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    match read(stream).await? {
        [5, 0, _] => {}
        [5, code, _] => return Err(refusal(code)),
        _ => return Err(Error::InvalidResponseVersion),
    }
    let relay = address::read(stream).await?;
    let mut relay = relay.map_err(|_| Error::UnknownAddressType)?;
    // That is: where the proxy itself is.
    if matches!(&relay.host, Host::Ip(ip) if ip.is_unspecified()) {
        relay.host = server.clone();
    }
    Ok(relay)
}

async fn read<const N: usize>(stream: &mut (impl AsyncRead + Unpin)) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// The replies of RFC 1928, section 6.
fn refusal(code: u8) -> Error {
    match code {
        1 => Error::GeneralSocksServerFailure,
        2 => Error::ConnectionNotAllowedByRuleset,
        3 => Error::NetworkUnreachable,
        4 => Error::HostUnreachable,
        5 => Error::ConnectionRefused,
        6 => Error::TtlExpired,
        7 => Error::CommandNotSupported,
        8 => Error::AddressTypeNotSupported,
        _ => Error::UnknownError,
    }
}

/// An association that stands.
pub(crate) struct Association {
    proxy: String,
    /// Its end is the association's.
    stream: Mutex<Box<dyn Io>>,
    link: Link,
}

impl Association {
    /// The one that `proxy` has granted on `stream`, whose datagrams go over `link`.
    pub(crate) fn new(proxy: String, stream: Box<dyn Io>, link: Link) -> Self {
        let stream = Mutex::new(stream);
        Self {
            proxy,
            stream,
            link,
        }
    }

    /// Waits until the stream ends.
    async fn ended(&self) -> FetchError {
        let mut stream = self.stream.lock().await;
        let mut ignored = [0; 64];
        let error = loop {
            match stream.read(&mut ignored).await {
                Ok(1..) => {}
                Ok(0) => break std::io::ErrorKind::UnexpectedEof.into(),
                Err(error) => break error,
            }
        };
        of_io(Phase::Proxy, &self.proxy, &error)
    }
}

#[async_trait]
impl Datagrams for Association {
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError> {
        self.link.send(&datagram::wrap(payload, target)?).await
    }

    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError> {
        let received = async {
            loop {
                let packet = self.link.receive().await?;
                if let Some((source, payload)) = datagram::unwrap(&packet) {
                    return Ok((payload.to_vec(), source));
                }
            }
        };
        tokio::select! {
            error = self.ended() => Err(error),
            received = received => received,
        }
    }
}
