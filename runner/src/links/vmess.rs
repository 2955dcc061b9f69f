//! `vmess://`, as v2rayN writes it (an object in base64) and in the standard form
//! (`uuid@server:port?…#name`). It must not know any other scheme.

use serde_json::{Map, Value};

use super::credentials::unpacked;
use super::draft::{Draft, word};
use super::link::Link;
use super::tls::{self, Unsaid};
use super::transport;

/// Ciphers of sing-box.
const CIPHERS: [&str; 6] = [
    "auto",
    "none",
    "zero",
    "aes-128-gcm",
    "chacha20-poly1305",
    "aes-128-ctr",
];

/// How v2rayN calls what the standard form has as parameters.
const PARAMETERS: [(&str, &str); 12] = [
    ("net", "type"),
    ("type", "headerType"),
    ("tls", "security"),
    ("scy", "encryption"),
    ("aid", "alterId"),
    ("host", "host"),
    ("path", "path"),
    ("sni", "sni"),
    ("alpn", "alpn"),
    ("fp", "fp"),
    ("allowInsecure", "allowInsecure"),
    ("ipv6", "ipv6"),
];

/// Turns v2rayN's form into the standard one.
pub(super) fn unpack(link: &mut Link) -> Result<(), String> {
    if link.account.is_some() {
        return Ok(());
    }
    let object = unpacked(&link.place)
        .and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok())
        .ok_or("it is neither an object in base64 nor uuid@server:port")?;
    let field = |name: &str| match object.get(name) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(flag)) => flag.to_string(),
        _ => String::new(),
    };
    let name = field("ps");
    if !name.is_empty() {
        link.name = name;
    }
    for (theirs, ours) in PARAMETERS {
        link.set(ours, field(theirs));
    }
    let host = field("add");
    link.place = match host.contains(':') && !host.starts_with('[') {
        true => format!("[{host}]:{}", field("port")),
        false => format!("{host}:{}", field("port")),
    };
    // As it stands in a link, where it may hold a percent sign of its own.
    link.account = Some(field("id").replace('%', "%25"));
    Ok(())
}

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let server = link.server()?;
    let mut draft = Draft::outbound("vmess", link, &server, server.port()?);
    draft.put("uuid", link.secret("uuid")?);
    let cipher = link.get(&["encryption"]).unwrap_or("auto");
    if !CIPHERS.contains(&cipher) {
        let cipher = word(cipher);
        return Err(format!("its cipher, {cipher}, is none of sing-box"));
    }
    draft.put("security", cipher);
    let alter_id = link.get(&["alterId", "aid"]).unwrap_or("0");
    let alter_id: u16 = alter_id
        .parse()
        .map_err(|_| "its `alterId` is no number from 0 to 65535")?;
    if alter_id > 0 {
        draft.put("alter_id", alter_id);
    }
    transport::read(link, &mut draft)?;
    tls::read(link, Unsaid::Off, &mut draft)?;
    Ok(draft)
}
