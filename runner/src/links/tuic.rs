//! `tuic://uuid:password@server:port?…#name`. It must not know any other scheme.

use uuid::Uuid;

use super::draft::{Draft, word};
use super::link::Link;
use super::tls;

/// What sing-box has to keep a line from filling up.
const CONGESTION: [&str; 3] = ["cubic", "new_reno", "bbr"];

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let server = link.server()?;
    let mut draft = Draft::outbound("tuic", link, &server, server.port_or(Some(443))?);
    let account = link.secret("uuid")?;
    let (uuid, password) = account.split_once(':').unwrap_or((&account, ""));
    let uuid = Uuid::parse_str(uuid).map_err(|_| "what stands for its uuid is none")?;
    draft.put("uuid", uuid.to_string());
    let password = Some(password).filter(|password| !password.is_empty());
    draft.put_some("password", password.or_else(|| link.get(&["password"])));
    match link.get(&["congestion_control", "congestion-controller"]) {
        None => {}
        Some(named) if CONGESTION.contains(&named) => draft.put("congestion_control", named),
        Some(other) => {
            let other = word(other);
            draft.doubt(format!("its `congestion_control`, {other}, is left out"));
        }
    }
    let mode = link.get(&["udp_relay_mode", "udp-relay-mode"]);
    draft.put_some(
        "udp_relay_mode",
        mode.filter(|named| ["native", "quic"].contains(named)),
    );
    if link.flag(&["reduce_rtt", "zero_rtt_handshake"]) == Some(true) {
        draft.put("zero_rtt_handshake", true);
    }
    tls::of_quic(link, &mut draft);
    Ok(draft)
}
