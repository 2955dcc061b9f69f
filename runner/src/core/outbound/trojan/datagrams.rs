//! Datagrams as trojan writes them: target, length, payload. It must not know what was
//! told before them.

use std::io;

use bytes::{Buf as _, BufMut as _, BytesMut};

use super::CRLF;
use crate::core::over_stream::{Codec, Incoming, Outgoing, length_of, malformed};
use crate::socks::address;

/// The datagrams of one stream.
#[derive(Clone, Default)]
pub(super) struct Packets {
    requested: bool,
}

impl Codec for Packets {
    fn write(&mut self, (payload, target): Outgoing<'_>, to: &mut BytesMut) -> io::Result<()> {
        let length = length_of(payload)?;
        let mut head = Vec::new();
        address::write(&mut head, target).map_err(io::Error::other)?;
        if !self.requested {
            // The request ends with the target of the first: servers may route by it.
            to.put_slice(&head);
            to.put_slice(CRLF);
            self.requested = true;
        }
        to.put_slice(&head);
        to.put_u16(length);
        to.put_slice(CRLF);
        to.put_slice(payload);
        Ok(())
    }

    fn read(&mut self, from: &mut BytesMut) -> io::Result<Option<Incoming>> {
        loop {
            let parsed = address::parse(from).map_err(|_| malformed("trojan"))?;
            let Some((source, start)) = parsed else {
                return Ok(None);
            };
            let rest = from.get(start..).unwrap_or_default();
            let Some((&[high, low, cr, lf], payload)) = rest.split_first_chunk() else {
                return Ok(None);
            };
            if [cr, lf] != CRLF {
                return Err(malformed("trojan"));
            }
            let length = u16::from_be_bytes([high, low]).into();
            if payload.len() < length {
                return Ok(None);
            }
            from.advance(start + 4);
            let payload = from.split_to(length).freeze();
            if let Ok(source) = source {
                return Ok(Some((payload, source)));
            }
        }
    }
}
