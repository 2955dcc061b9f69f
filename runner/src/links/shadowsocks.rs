//! `ss://`: SIP002 (`account@server:port`, the account plain or in base64) and the older
//! form, all of it in base64. It must not know any other scheme.

use super::credentials::{is_key, unpacked};
use super::draft::{Draft, word};
use super::link::{Link, Server};

/// Methods of sing-box.
const METHODS: [&str; 18] = [
    "2022-blake3-aes-128-gcm",
    "2022-blake3-aes-256-gcm",
    "2022-blake3-chacha20-poly1305",
    "none",
    "aes-128-gcm",
    "aes-192-gcm",
    "aes-256-gcm",
    "chacha20-ietf-poly1305",
    "xchacha20-ietf-poly1305",
    "aes-128-ctr",
    "aes-192-ctr",
    "aes-256-ctr",
    "aes-128-cfb",
    "aes-192-cfb",
    "aes-256-cfb",
    "rc4-md5",
    "chacha20-ietf",
    "xchacha20",
];

/// Other names of theirs.
const ALIASES: [(&str, &str); 3] = [
    ("plain", "none"),
    ("chacha20-poly1305", "chacha20-ietf-poly1305"),
    ("xchacha20-poly1305", "xchacha20-ietf-poly1305"),
];

pub(super) fn read(link: &Link) -> Result<Draft, String> {
    let (account, server) = account_and_server(link)?;
    let mut draft = Draft::outbound("shadowsocks", link, &server, server.port()?);
    let (method, password) = account
        .split_once(':')
        .ok_or("its account is no method and password")?;
    let method = method.to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(alias, _)| *alias == method);
    let method = alias.map_or(method.as_str(), |(_, name)| name);
    // What stands there instead may be the password.
    let method = METHODS
        .iter()
        .find(|known| **known == method)
        .ok_or("its method is none of sing-box")?;
    draft.put("method", *method);
    check_keys(method, password)?;
    draft.put("password", password);
    if link.get(&["type"]).is_some_and(|named| named != "tcp") {
        return Err("shadowsocks of sing-box travels in nothing else".to_owned());
    }
    if link.flag(&["uot", "udp-over-tcp"]) == Some(true) {
        draft.put("udp_over_tcp", true);
    }
    if let Some(plugin) = link.get(&["plugin"]) {
        read_plugin(plugin, &mut draft)?;
    }
    Ok(draft)
}

fn account_and_server(link: &Link) -> Result<(String, Server), String> {
    if let Some(account) = link.account() {
        let account = match account.contains(':') {
            true => account,
            false => unpacked(&account).ok_or("its account is neither plain nor base64")?,
        };
        return Ok((account, link.server()?));
    }
    let whole = unpacked(link.place.trim_end_matches('/'));
    let whole = whole.ok_or("it is neither account@server:port nor that in base64")?;
    let (account, place) = whole
        .rsplit_once('@')
        .ok_or("what it holds is no account@server:port")?;
    Ok((account.to_owned(), Server::read(place)?))
}

/// The methods of 2022 take keys of a length, and sing-box refuses others.
fn check_keys(method: &str, password: &str) -> Result<(), String> {
    let bytes = match method {
        "2022-blake3-aes-128-gcm" => 16,
        "2022-blake3-aes-256-gcm" | "2022-blake3-chacha20-poly1305" => 32,
        _ => return Ok(()),
    };
    if password.split(':').all(|key| is_key(key, bytes)) {
        return Ok(());
    }
    Err(format!(
        "`{method}` takes a key of {bytes} bytes in base64, and its password is none"
    ))
}

/// `name;option;option`.
fn read_plugin(plugin: &str, draft: &mut Draft) -> Result<(), String> {
    let (name, options) = plugin.split_once(';').unwrap_or((plugin, ""));
    let name = match name {
        "obfs-local" | "simple-obfs" => "obfs-local",
        "v2ray-plugin" => name,
        "none" => return Ok(()),
        other => {
            let other = word(other);
            return Err(format!("its plugin, {other}, is none of sing-box"));
        }
    };
    draft.put("plugin", name);
    draft.put("plugin_opts", options);
    Ok(())
}
