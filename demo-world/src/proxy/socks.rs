//! SOCKS5 as a proxy speaks it; the protocol itself is `fast-socks5`'s.
//! It must not know why a way is refused, only what to answer.

use std::io;

use fast_socks5::server::Socks5ServerProtocol;
use fast_socks5::util::target_addr::TargetAddr;
use fast_socks5::{ReplyError, Socks5Command};
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};

use super::{Host, Refusal};
use crate::loopback;

pub(super) async fn serve<S>(host: &Host, client: S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let greeted = match &host.proxy.account {
        None => Socks5ServerProtocol::accept_no_auth(client).await,
        Some((name, password)) => {
            Socks5ServerProtocol::accept_password_auth(client, |n, p| n == *name && p == *password)
                .await
                .map(|(protocol, _)| protocol)
        }
    };
    let (protocol, command, target) = greeted
        .map_err(io::Error::other)?
        .read_command()
        .await
        .map_err(io::Error::other)?;
    let answer = match command {
        Socks5Command::TCPConnect => {
            let (name, port) = match target {
                TargetAddr::Ip(address) => (address.ip().to_string(), address.port()),
                TargetAddr::Domain(name, port) => (name, port),
            };
            host.open(&name, port).await.map_err(reply)
        }
        _ => Err(Some(ReplyError::CommandNotSupported)),
    };
    match answer {
        Ok(mut passage) => {
            let mut client = protocol
                .reply_success(loopback())
                .await
                .map_err(io::Error::other)?;
            copy_bidirectional(&mut client, &mut passage.stream)
                .await
                .map(drop)
        }
        Err(Some(error)) => protocol.reply_error(&error).await.map_err(io::Error::other),
        Err(None) => Ok(()),
    }
}

/// What SOCKS has for it; none drops the client.
fn reply(refusal: Refusal) -> Option<ReplyError> {
    match refusal {
        Refusal::Outside => Some(ReplyError::HostUnreachable),
        Refusal::Mood => None,
        Refusal::Unreachable(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Some(ReplyError::ConnectionRefused)
        }
        Refusal::Unreachable(_) => Some(ReplyError::GeneralFailure),
    }
}
