//! What VLESS, VMess and trojan travel in, as links say it. It must not know any of them.

use serde_json::{Value, json};

use super::draft::{Draft, word};
use super::link::Link;
use super::parts;

/// The header that early data of a WebSocket goes in where a link does not say.
const EARLY: &str = "Sec-WebSocket-Protocol";

/// Sets `transport` if the link wants one.
pub(super) fn read(link: &Link, draft: &mut Draft) -> Result<(), String> {
    let transport = match link.get(&["type"]).unwrap_or("tcp") {
        "tcp" | "raw" => match link.get(&["headerType"]).unwrap_or("none") {
            "none" => return Ok(()),
            "http" => http(link),
            other => {
                let other = word(other);
                return Err(format!(
                    "its `headerType`, {other}, is nothing that sing-box has"
                ));
            }
        },
        "ws" | "websocket" => websocket(link),
        "http" | "h2" => http(link),
        "httpupgrade" => upgrade(link),
        "grpc" | "gun" => grpc(link),
        "quic" => json!({ "type": "quic" }),
        other => {
            let other = word(other);
            return Err(format!("it travels in {other}, which sing-box has not"));
        }
    };
    draft.put("transport", transport);
    Ok(())
}

fn websocket(link: &Link) -> Value {
    let path = link.get(&["path"]).unwrap_or("/");
    // Xray has the size of early data in the path.
    let (path, early) = match path.split_once("?ed=") {
        Some((before, size)) => match size.parse::<u32>() {
            Ok(size) => (before, Some(size)),
            Err(_) => (path, None),
        },
        None => (path, None),
    };
    let early = early.or_else(|| link.get(&["ed"])?.parse().ok());
    let mut transport = json!({ "type": "ws", "path": path });
    if let Some(host) = link.get(&["host"]) {
        transport["headers"] = json!({ "Host": host });
    }
    if let Some(size) = early.filter(|size| *size > 0) {
        transport["max_early_data"] = size.into();
        transport["early_data_header_name"] = link.get(&["eh"]).unwrap_or(EARLY).into();
    }
    transport
}

fn http(link: &Link) -> Value {
    let mut transport = json!({ "type": "http", "path": link.get(&["path"]).unwrap_or("/") });
    let hosts = parts::of(link.get(&["host"]));
    if !hosts.is_empty() {
        transport["host"] = hosts.into();
    }
    transport
}

fn upgrade(link: &Link) -> Value {
    let path = link.get(&["path"]).unwrap_or("/");
    let path = path.split_once("?ed=").map_or(path, |(before, _)| before);
    let mut transport = json!({ "type": "httpupgrade", "path": path });
    if let Some(host) = link.get(&["host"]) {
        transport["host"] = host.into();
    }
    transport
}

fn grpc(link: &Link) -> Value {
    let name = link.get(&["serviceName", "path"]).unwrap_or_default();
    json!({ "type": "grpc", "service_name": name })
}
