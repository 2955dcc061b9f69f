//! The handshake of SOCKS 4 and 4a. It must not know version 5.

use std::io;
use std::net::Ipv4Addr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::{Command, Greeting, Version, Wish};
use crate::inbound::session::{ClientStream, host};
use crate::inbound::users::Users;
use crate::proxy_core::{Host, Target};

/// The request is granted.
pub(super) const GRANTED: u8 = 0x5a;
/// The request is rejected or failed; version 4 does not say why.
pub(super) const REJECTED: u8 = 0x5b;
/// The user is not who it says: the nearest thing to a wrong password.
const WRONG_USER: u8 = 0x5d;

/// What a user or a name may take. No name is longer, and no length stands before it.
const LONGEST: usize = 255;

/// Reads the rest of a request whose version is read. A user proves itself by its name
/// alone, so only one without a password is let in.
pub(super) async fn greet(stream: &mut ClientStream, users: &Users) -> io::Result<Greeting> {
    let command = match stream.read_u8().await? {
        1 => Command::Connect,
        _ => Command::Other,
    };
    let port = stream.read_u16().await?;
    let ip = Ipv4Addr::from_bits(stream.read_u32().await?);
    let name = zero_ended(stream).await?;
    // 4a: an address 0.0.0.x that no host has stands for a name.
    let asked = match ip.octets() {
        [0, 0, 0, last] if last != 0 => String::from_utf8(zero_ended(stream).await?)
            .ok()
            .and_then(|text| host(&text)),
        _ => Some(Host::Ip(ip.into())),
    };
    let user = users.find(&name, b"");
    if user.is_none() && !users.is_empty() {
        stream.write_all(&reply(WRONG_USER)).await?;
        return Ok(Greeting::Refused("its user is unknown or has a password"));
    }
    let Some(host) = asked else {
        stream.write_all(&reply(REJECTED)).await?;
        return Ok(Greeting::Refused("it asks for what is no host"));
    };
    Ok(Greeting::Welcome(Wish {
        version: Version::V4,
        command,
        target: Target {
            host,
            port,
            family: None,
        },
        user,
    }))
}

/// A reply with this code; the address after it means nothing to a CONNECT.
pub(super) fn reply(code: u8) -> Vec<u8> {
    vec![0, code, 0, 0, 0, 0, 0, 0]
}

async fn zero_ended(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    loop {
        match stream.read_u8().await? {
            0 => return Ok(text),
            _ if text.len() == LONGEST => return Err(io::Error::other("its request is too long")),
            byte => text.push(byte),
        }
    }
}
