//! `vless://uuid@server:port?…#name`. It must not know any other scheme.

use super::draft::{Draft, word};
use super::link::Link;
use super::tls::{self, Unsaid};
use super::transport;

/// The one flow of sing-box, which Xray calls by a longer name where it lets QUIC through.
const VISION: &str = "xtls-rprx-vision";

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let server = link.server()?;
    let mut draft = Draft::outbound("vless", link, &server, server.port()?);
    draft.put("uuid", link.secret("uuid")?);
    if link
        .get(&["encryption"])
        .is_some_and(|named| named != "none")
    {
        return Err("it has an `encryption`, which sing-box has not".to_owned());
    }
    match link.get(&["flow"]) {
        None | Some("none") => {}
        Some(flow) if flow.strip_suffix("-udp443").unwrap_or(flow) == VISION => {
            draft.put("flow", VISION);
        }
        Some(other) => {
            let other = word(other);
            return Err(format!("its `flow`, {other}, is nothing that sing-box has"));
        }
    }
    match link.get(&["packetEncoding", "packet_encoding"]) {
        Some("none") => draft.put("packet_encoding", ""),
        Some(named @ ("xudp" | "packetaddr")) => draft.put("packet_encoding", named),
        _ => {}
    }
    transport::read(link, &mut draft)?;
    tls::read(link, Unsaid::Off, &mut draft)?;
    Ok(draft)
}
