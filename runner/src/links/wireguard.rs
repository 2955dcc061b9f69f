//! `wireguard://` and `wg://`: an endpoint with one peer. Apps disagree on the names of its
//! parameters. It must not know any other scheme.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::credentials::curve_key;
use super::draft::Draft;
use super::link::Link;
use super::parts;

const PRIVATE: [&str; 4] = ["privatekey", "private_key", "pk", "secretkey"];
const PUBLIC: [&str; 5] = [
    "publickey",
    "public_key",
    "peer_pk",
    "peer_public_key",
    "peer",
];
const SHARED: [&str; 4] = ["presharedkey", "pre_shared_key", "preshared_key", "psk"];
const ADDRESS: [&str; 4] = ["address", "local_address", "localaddress", "ip"];
const KEEPALIVE: [&str; 3] = ["keepalive", "persistentkeepalive", "persistent_keepalive"];

/// WireGuard's own port.
const PORT: u16 = 51820;

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let server = link.server()?;
    let port = server.port_or(Some(PORT))?;
    let mut draft = Draft::endpoint("wireguard", link, &server.host, port);
    let addresses = parts::of(link.get(&ADDRESS));
    let addresses: Vec<String> = addresses
        .into_iter()
        .map(prefix)
        .collect::<Option<_>>()
        .filter(|addresses: &Vec<_>| !addresses.is_empty())
        .ok_or("its own address is missing or none")?;
    draft.put("address", addresses);
    let private = link.account();
    let private = private.as_deref().or_else(|| link.get(&PRIVATE));
    draft.put("private_key", key(private, "private")?);
    if let Some(mtu) = link.get(&["mtu"]) {
        let mtu: u32 = mtu.parse().map_err(|_| "its `mtu` is no number")?;
        draft.put("mtu", mtu);
    }
    let mut peer = json!({
        "address": server.host,
        "port": port,
        "public_key": key(link.get(&PUBLIC), "public")?,
        "allowed_ips": ["0.0.0.0/0", "::/0"],
    });
    if let shared @ Some(_) = link.get(&SHARED) {
        peer["pre_shared_key"] = key(shared, "shared")?.into();
    }
    if let Some(reserved) = link.get(&["reserved"]) {
        peer["reserved"] = read_reserved(reserved)?;
    }
    let keepalive = link
        .get(&KEEPALIVE)
        .and_then(|text| text.parse::<u16>().ok());
    if let Some(seconds) = keepalive.filter(|seconds| *seconds > 0) {
        peer["persistent_keepalive_interval"] = seconds.into();
    }
    draft.put("peers", vec![peer]);
    Ok(draft)
}

fn key(text: Option<&str>, which: &str) -> Result<String, String> {
    let text = text.ok_or_else(|| format!("it has no {which} key"))?;
    curve_key(text).ok_or_else(|| format!("its {which} key is none of WireGuard"))
}

/// Three bytes, as numbers or in base64.
fn read_reserved(text: &str) -> Result<Value, String> {
    let numbers = text.trim_matches(['[', ']']).split(',');
    let numbers: Option<Vec<u8>> = numbers.map(|part| part.trim().parse().ok()).collect();
    numbers
        .or_else(|| crate::config::base64::decode(text))
        .filter(|bytes| bytes.len() == 3)
        .map(Value::from)
        .ok_or_else(|| "its `reserved` is not three bytes".to_owned())
}

/// An address with its length.
fn prefix(text: &str) -> Option<String> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let address: IpAddr = address.trim_matches(['[', ']']).parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length: u8 = length.map_or(Some(most), |length| length.parse().ok())?;
    (length <= most).then(|| format!("{address}/{length}"))
}
