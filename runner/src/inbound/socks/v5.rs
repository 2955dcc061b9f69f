//! The handshake of SOCKS 5. It must not know version 4, nor what a command does.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::{Command, Greeting, Version, Wish};
use crate::inbound::refusal::GENERAL_FAILURE;
use crate::inbound::session::ClientStream;
use crate::inbound::users::Users;
use crate::proxy_core::Target;
use crate::socks::address::{self, Odd};

/// The reply to a wish that came true.
pub(super) const SUCCEEDED: u8 = 0;
/// The reply to an address of a type that there is none of.
const ADDRESS_NOT_SUPPORTED: u8 = 8;

/// Methods to show who one is: not at all, by name and password, and none of those.
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;

/// Reads the rest of a handshake whose first version is read.
pub(super) async fn greet(stream: &mut ClientStream, users: &Users) -> io::Result<Greeting> {
    let methods = counted(stream).await?;
    // A client that offers a password where none is wanted is not asked for it.
    let method = match users.is_empty() {
        true => NO_AUTHENTICATION,
        false => PASSWORD,
    };
    if !methods.contains(&method) {
        stream.write_all(&[5, NO_METHOD]).await?;
        return Ok(Greeting::Refused(match users.is_empty() {
            true => "it insists on showing who it is",
            false => "it sent no name and password",
        }));
    }
    stream.write_all(&[5, method]).await?;
    let mut user = None;
    if method == PASSWORD {
        user = login(stream, users).await?;
        if user.is_none() {
            return Ok(Greeting::Refused("it sent a wrong name or password"));
        }
    }
    request(stream, user).await
}

/// A reply, with an address where it means something.
pub(super) fn reply(code: u8, bound: Option<SocketAddr>) -> Vec<u8> {
    let bound = bound.unwrap_or_else(|| SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
    let mut reply = vec![5, code, 0];
    address::write(&mut reply, &Target::from(bound)).expect("an address has no name");
    reply
}

/// Reads name and password, and answers. None for one that is not known.
async fn login(stream: &mut ClientStream, users: &Users) -> io::Result<Option<Arc<str>>> {
    if stream.read_u8().await? != 1 {
        return Err(io::Error::other("its password is of an unknown version"));
    }
    let name = counted(stream).await?;
    let password = counted(stream).await?;
    let user = users.find(&name, &password);
    stream.write_all(&[1, u8::from(user.is_none())]).await?;
    Ok(user)
}

async fn request(stream: &mut ClientStream, user: Option<Arc<str>>) -> io::Result<Greeting> {
    let [version, command, _reserved] = {
        let mut head = [0; 3];
        stream.read_exact(&mut head).await?;
        head
    };
    if version != 5 {
        return Err(io::Error::other("its request is of an unknown version"));
    }
    let code = match address::read(stream).await? {
        Ok(target) => {
            return Ok(Greeting::Welcome(Wish {
                version: Version::V5,
                command: match command {
                    1 => Command::Connect,
                    3 => Command::Associate,
                    _ => Command::Other,
                },
                target,
                user,
            }));
        }
        Err(Odd::Name) => GENERAL_FAILURE,
        Err(Odd::Kind) => ADDRESS_NOT_SUPPORTED,
    };
    stream.write_all(&reply(code, None)).await?;
    Ok(Greeting::Refused("it asks for what is no host"))
}

/// Bytes with their number before them.
async fn counted(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}
