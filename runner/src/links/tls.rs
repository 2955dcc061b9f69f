//! TLS as links say it, for all schemes that have it. It must not know any of them.

use serde_json::{Value, json};

use super::credentials::is_key;
use super::draft::{Draft, word};
use super::link::Link;
use super::parts;

/// The handshakes of browsers that uTLS in sing-box can play.
const FINGERPRINTS: [&str; 10] = [
    "chrome",
    "firefox",
    "edge",
    "safari",
    "360",
    "qq",
    "ios",
    "android",
    "random",
    "randomized",
];

/// What plays a browser where REALITY needs one and the link names none.
const COMMON: &str = "chrome";

/// A short id of REALITY has so many bytes at most.
const SHORT_ID: usize = 8;

/// Whether a scheme has TLS where a link does not say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsaid {
    Off,
    On,
}

/// Sets `tls` if the link wants it. What is sent in it is known already: some transports
/// need a protocol of their own.
pub(super) fn read(link: &Link, unsaid: Unsaid, draft: &mut Draft) -> Result<(), String> {
    let reality = match link.get(&["security"]) {
        None if unsaid == Unsaid::On => false,
        None | Some("none" | "false" | "0") => return Ok(()),
        Some("tls" | "true" | "1") => false,
        Some("reality") => true,
        Some(other) => {
            let other = word(other);
            return Err(format!(
                "its `security`, {other}, is nothing that sing-box has"
            ));
        }
    };
    let mut tls = always(link, draft);
    let mut fingerprint = fingerprint(link, draft);
    if reality {
        fingerprint.get_or_insert(COMMON);
        tls["reality"] = read_reality(link)?;
    }
    if let Some(fingerprint) = fingerprint {
        tls["utls"] = json!({ "enabled": true, "fingerprint": fingerprint });
    }
    draft.put("tls", tls);
    Ok(())
}

/// Sets `tls` of a scheme that runs over QUIC, which needs it and plays no browser.
pub(super) fn of_quic(link: &Link, draft: &mut Draft) {
    let tls = always(link, draft);
    draft.put("tls", tls);
}

/// What all that have TLS have.
fn always(link: &Link, draft: &mut Draft) -> Value {
    let mut tls = json!({ "enabled": true });
    if link.flag(&["disable_sni"]) == Some(true) {
        tls["disable_sni"] = true.into();
    }
    if let Some(name) = link.get(&["sni", "peer", "servername", "host"]) {
        // Of several hosts the first is asked for.
        tls["server_name"] = name.split(',').next().unwrap_or(name).trim().into();
    }
    let mut protocols = parts::of(link.get(&["alpn"]));
    if speaks_http1(draft) {
        // A server that is offered another may take it.
        protocols.retain(|protocol| *protocol == "http/1.1");
    }
    if !protocols.is_empty() {
        tls["alpn"] = protocols.into();
    }
    let insecure = [
        "allowInsecure",
        "allow_insecure",
        "insecure",
        "skip-cert-verify",
    ];
    if link.flag(&insecure) == Some(true) {
        tls["insecure"] = true.into();
    }
    if link.get(&["pinSHA256", "pcs"]).is_some() {
        draft.doubt("the certificate that it pins is not in the config: sing-box pins none");
    }
    if link.get(&["ech"]).is_some() {
        draft.doubt("its `ech` is not in the config");
    }
    tls
}

/// Whether the transport is one that begins with HTTP/1.1.
fn speaks_http1(draft: &Draft) -> bool {
    let transport = draft
        .fields
        .get("transport")
        .map(|transport| &transport["type"]);
    transport.is_some_and(|name| name == "ws" || name == "httpupgrade")
}

fn fingerprint(link: &Link, draft: &mut Draft) -> Option<&'static str> {
    let named = link.get(&["fp"]).filter(|named| *named != "none")?;
    let known = FINGERPRINTS.iter().find(|known| **known == named);
    if known.is_none() {
        let named = word(named);
        draft.doubt(format!(
            "its `fp`, {named}, is none that sing-box plays, and left out"
        ));
    }
    known.copied()
}

fn read_reality(link: &Link) -> Result<Value, String> {
    let key = link.get(&["pbk"]).ok_or("its REALITY has no `pbk`")?;
    if !is_key(key, 32) {
        return Err("its `pbk` is no key of REALITY".to_owned());
    }
    let short_id = link.get(&["sid"]).unwrap_or_default();
    let is_id = short_id.len().is_multiple_of(2)
        && short_id.len() <= 2 * SHORT_ID
        && short_id.chars().all(|c| c.is_ascii_hexdigit());
    if !is_id {
        return Err("its `sid` is no short id of REALITY".to_owned());
    }
    // sing-box takes the key in one form alone.
    let key = key
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    Ok(json!({ "enabled": true, "public_key": key, "short_id": short_id }))
}
