//! SOCKS as a client speaks it to us: version 5 (RFC 1928, RFC 1929), 4 and 4a.
//! It must not know where connections go.
//!
//! By hand: the crate at hand for the server's side logs every password at debug level,
//! refuses empty ones and has no version 4.

mod udp;
mod v4;
mod v5;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::refusal::{COMMAND_NOT_SUPPORTED, Refusal};
use super::relay::relay;
use super::session::{ClientStream, Door, farewell};
use crate::proxy_core::Target;

/// What a client wants.
struct Wish {
    version: Version,
    command: Command,
    target: Target,
    user: Option<Arc<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V4,
    V5,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    /// A stream to the target.
    Connect,
    /// A way for datagrams.
    Associate,
    /// What no client uses and we do not do.
    Other,
}

/// What came of a handshake.
enum Greeting {
    /// The client may have its wish.
    Welcome(Wish),
    /// The client was told that it may not, and why it may not.
    Refused(&'static str),
}

/// Serves one connection whose first byte was seen and not read.
pub(super) async fn serve(
    door: &Door,
    mut stream: ClientStream,
    source: SocketAddr,
    deadline: Instant,
) -> io::Result<()> {
    let greeting = timeout_at(deadline, greet(door, &mut stream)).await??;
    let wish = match greeting {
        Greeting::Welcome(wish) => wish,
        Greeting::Refused(why) => {
            farewell(&mut stream).await?;
            return Err(io::Error::other(why));
        }
    };
    let client = door.client(source, wish.user.clone());
    match wish.command {
        Command::Connect => match door.upstream.connect(&client, &wish.target).await {
            Ok(upstream) => {
                stream.write_all(&wish.version.agreed()).await?;
                relay(stream, upstream).await
            }
            Err(error) => {
                let code = Refusal::from(&error).socks;
                refuse(stream, wish.version, code).await?;
                Err(io::Error::other(error))
            }
        },
        Command::Associate => udp::serve(door, stream, client).await,
        Command::Other => {
            refuse(stream, wish.version, COMMAND_NOT_SUPPORTED).await?;
            Err(io::Error::other(
                "it asks for what is neither CONNECT nor UDP",
            ))
        }
    }
}

async fn greet(door: &Door, stream: &mut ClientStream) -> io::Result<Greeting> {
    match stream.read_u8().await? {
        4 => v4::greet(stream, &door.users).await,
        _ => v5::greet(stream, &door.users).await,
    }
}

async fn refuse(mut stream: ClientStream, version: Version, code: u8) -> io::Result<()> {
    stream.write_all(&version.refused(code)).await?;
    farewell(&mut stream).await
}

impl Version {
    /// The reply to a connection that stands. From which address it leaves, nobody here
    /// can know, and no client asks.
    fn agreed(self) -> Vec<u8> {
        match self {
            Self::V4 => v4::reply(v4::GRANTED),
            Self::V5 => v5::reply(v5::SUCCEEDED, None),
        }
    }

    fn refused(self, code: u8) -> Vec<u8> {
        match self {
            Self::V4 => v4::reply(v4::REJECTED),
            Self::V5 => v5::reply(code, None),
        }
    }
}
