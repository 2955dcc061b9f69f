//! Datagrams as XUDP writes them: frames of a multiplexed stream with one session, each of
//! which names its own target. It must not know what was told before them.

use std::io;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures::FutureExt as _;
use tokio::io::AsyncReadExt as _;

use super::KINDS;
use crate::core::over_stream::{Codec, Incoming, Outgoing, length_of, malformed};
use crate::proxy_core::Target;
use crate::socks::address::{read_host, write_host};

/// What a frame does to its session: begins it, goes on, ends it.
const NEW: u8 = 1;
const KEEP: u8 = 2;
const END: u8 = 3;

/// A payload follows the frame's head.
const WITH_DATA: u8 = 1;

/// The frame is about datagrams.
const UDP: u8 = 2;

/// The only session, that of all datagrams.
const SESSION: [u8; 2] = [0, 0];

/// The datagrams of one stream.
#[derive(Clone, Default)]
pub(super) struct Xudp {
    begun: bool,
}

impl Codec for Xudp {
    fn write(&mut self, (payload, target): Outgoing<'_>, to: &mut BytesMut) -> io::Result<()> {
        let length = length_of(payload)?;
        let status = if self.begun { KEEP } else { NEW };
        let mut head = Vec::from(SESSION);
        head.extend([status, WITH_DATA, UDP]);
        head.extend(target.port.to_be_bytes());
        write_host(&mut head, &target.host, KINDS).map_err(io::Error::other)?;
        to.put_u16(length_of(&head)?);
        to.put_slice(&head);
        to.put_u16(length);
        to.put_slice(payload);
        self.begun = true;
        Ok(())
    }

    fn read(&mut self, from: &mut BytesMut) -> io::Result<Option<Incoming>> {
        while let Some((head, payload)) = frame(from)? {
            match source(&head) {
                Found::Source(source) => return Ok(Some((payload, source))),
                Found::Nothing => {}
                Found::End => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        Ok(None)
    }
}

/// Takes the first frame out of what came: its head and its payload. None while it is cut
/// short.
fn frame(from: &mut BytesMut) -> io::Result<Option<(Bytes, Bytes)>> {
    let Some((head, rest)) = counted(from) else {
        return Ok(None);
    };
    let &[_, _, _, option, ..] = head else {
        return Err(malformed("XUDP"));
    };
    let start = 2 + head.len();
    if option & WITH_DATA == 0 {
        let mut head = from.split_to(start);
        head.advance(2);
        return Ok(Some((head.freeze(), Bytes::new())));
    }
    let Some((payload, _)) = counted(rest) else {
        return Ok(None);
    };
    let length = payload.len();
    let mut head = from.split_to(start);
    head.advance(2);
    from.advance(2);
    Ok(Some((head.freeze(), from.split_to(length).freeze())))
}

/// Bytes with their number before them, and what comes after.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u16::from_be_bytes(*length).into())
}

enum Found {
    Source(Target),
    /// A sign of life, or a datagram from what is no host.
    Nothing,
    End,
}

/// Who sent what a frame holds.
fn source(head: &[u8]) -> Found {
    let &[_, _, status, option, ref rest @ ..] = head else {
        return Found::Nothing;
    };
    let mut rest = match (status, rest) {
        (END, _) => return Found::End,
        (NEW | KEEP, [UDP, rest @ ..]) if option & WITH_DATA != 0 => rest,
        _ => return Found::Nothing,
    };
    // Reading from memory never waits.
    let read = async {
        let port = rest.read_u16().await.ok()?;
        let host = read_host(&mut rest, KINDS).await.ok()?.ok()?;
        Some(Target {
            host,
            port,
            family: None,
        })
    };
    let read = read.now_or_never().flatten();
    read.map_or(Found::Nothing, Found::Source)
}
