//! Datagrams as VLESS itself writes them: the request names the one target of all, and each
//! has its length before it. It must not know what was told before the target.

use std::io;
use std::sync::{Arc, OnceLock};

use bytes::{Buf as _, BufMut as _, BytesMut};

use super::KINDS;
use crate::core::over_stream::{Codec, Incoming, Outgoing, length_of};
use crate::proxy_core::{Target, another_target};
use crate::socks::address::write_host;

/// The datagrams of one stream.
#[derive(Clone, Default)]
pub(super) struct Plain {
    target: Arc<OnceLock<Target>>,
}

impl Codec for Plain {
    fn write(&mut self, (payload, target): Outgoing<'_>, to: &mut BytesMut) -> io::Result<()> {
        let length = length_of(payload)?;
        match self.target.get() {
            Some(only) if only != target => return Err(io::Error::other(another_target())),
            Some(_) => {}
            None => {
                let mut end = Vec::from(target.port.to_be_bytes());
                write_host(&mut end, &target.host, KINDS).map_err(io::Error::other)?;
                to.put_slice(&end);
                self.target.get_or_init(|| target.clone());
            }
        }
        to.put_u16(length);
        to.put_slice(payload);
        Ok(())
    }

    fn read(&mut self, from: &mut BytesMut) -> io::Result<Option<Incoming>> {
        let Some((length, rest)) = from.split_first_chunk() else {
            return Ok(None);
        };
        let length = u16::from_be_bytes(*length).into();
        // Nothing is read before a first was sent.
        let (Some(source), true) = (self.target.get(), rest.len() >= length) else {
            return Ok(None);
        };
        from.advance(2);
        Ok(Some((from.split_to(length).freeze(), source.clone())))
    }
}
