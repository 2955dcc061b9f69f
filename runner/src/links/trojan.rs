//! `trojan://password@server:port?…#name`. It must not know any other scheme.

use super::draft::Draft;
use super::link::Link;
use super::tls::{self, Unsaid};
use super::transport;

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let server = link.server()?;
    let mut draft = Draft::outbound("trojan", link, &server, server.port_or(Some(443))?);
    draft.put("password", link.secret("password")?);
    transport::read(link, &mut draft)?;
    tls::read(link, Unsaid::On, &mut draft)?;
    Ok(draft)
}
