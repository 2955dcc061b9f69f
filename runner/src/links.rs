//! Share links and subscriptions: from their text to a config. It must not know where the
//! text comes from, nor what dials the outbounds.

mod assemble;
mod credentials;
mod draft;
mod http;
mod hysteria2;
mod link;
mod notice;
mod parts;
mod shadowsocks;
mod socks;
mod tls;
mod transport;
mod trojan;
mod tuic;
mod vless;
mod vmess;
mod wireguard;

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use crate::config::base64;
use draft::Draft;
use link::Link;

/// What a text of share links holds.
#[derive(Debug, Default)]
pub struct Links {
    /// What can be used, in the order of the text.
    pub shared: Vec<Shared>,
    /// What is left out, in the same order.
    pub left_out: Vec<LeftOut>,
    /// The text was base64: lines are those of what it holds.
    pub was_encoded: bool,
}

/// An outbound or endpoint that a link shares.
pub struct Shared {
    /// Which line of the text it stands on, from 1.
    pub line: usize,
    /// Its name, unique among all, as the config has it.
    pub tag: String,
    /// What the link says about IPv6, if it does (V-1).
    pub ipv6: Option<bool>,
    /// What the link says and the outbound cannot hold, in words for people.
    pub doubts: Vec<String>,
    is_endpoint: bool,
    /// The object in the config, secrets included.
    options: Map<String, Value>,
}

/// A line that becomes no outbound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Which line of the text it is, from 1.
    pub line: usize,
    /// The link's scheme; empty where there is none.
    pub scheme: String,
    /// The link's name; empty where there is none.
    pub name: String,
    /// Why.
    pub why: Why,
}

/// Why a line becomes no outbound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is none: its name tells when the subscription ends, or what is left of it.
    Notice,
    /// It cannot be used, for this reason; there is no secret in it.
    Wrong(String),
}

/// Reads a list of share links, in base64 or not: a link a line, or a JSON list of them.
/// Empty lines and comments (`#`, `//`) are passed over.
///
/// ```
/// let links = outwatch::links::read(b"trojan://secret@192.0.2.1:443#Berlin\nvless://");
/// assert_eq!(links.shared[0].tag, "Berlin");
/// assert_eq!(links.left_out[0].line, 2);
/// let config = links.config();
/// assert_eq!(config["outbounds"][2]["type"], "trojan");
/// ```
pub fn read(text: &[u8]) -> Links {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_start_matches('\u{feff}').trim();
    let mut links = Links::default();
    let decoded = packed(text);
    links.was_encoded = decoded.is_some();
    let text = decoded.unwrap_or(Cow::Borrowed(text));
    let mut drafts = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_matches(is_blank);
        if line.is_empty() || line.starts_with(['#', ';']) || line.starts_with("//") {
            continue;
        }
        match one(line) {
            Ok((name, draft)) => drafts.push((index + 1, name, draft)),
            Err(left_out) => links.left_out.push(LeftOut {
                line: index + 1,
                ..left_out
            }),
        }
    }
    links.shared = assemble::with_tags(drafts);
    links
}

impl Links {
    /// A sing-box style config with these outbounds and endpoints, a `urltest` over all and a
    /// `selector` over all and that. It holds the secrets of the links.
    pub fn config(&self) -> Value {
        assemble::config(&self.shared)
    }
}

/// Without what the object holds: there are secrets in it.
impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("line", &self.line)
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Notice => "it tells about the subscription, and is no outbound",
            Self::Wrong(why) => why,
        })
    }
}

/// The list inside base64 or JSON.
fn packed(text: &str) -> Option<Cow<'_, str>> {
    if text.starts_with('[') {
        let lines: Vec<String> = serde_json::from_str(text).ok()?;
        return Some(lines.join("\n").into());
    }
    if text.contains("://") {
        return None;
    }
    let inside = String::from_utf8(base64::decode(text)?).ok()?;
    inside.contains("://").then(|| inside.into())
}

/// What one line shares, and its name.
fn one(line: &str) -> Result<(String, Draft), LeftOut> {
    let left_out = |scheme: &str, name: &str, why| LeftOut {
        line: 0,
        scheme: scheme.to_owned(),
        name: name.to_owned(),
        why,
    };
    let Some(mut link) = Link::split(line) else {
        let why = Why::Wrong("this is no share link".to_owned());
        return Err(left_out("", "", why));
    };
    let read = reader(&link.scheme).and_then(|read| {
        if link.scheme == "vmess" {
            vmess::unpack(&mut link)?;
        }
        Ok(read)
    });
    if notice::is_one(&link.name) {
        return Err(left_out(&link.scheme, &link.name, Why::Notice));
    }
    match read.and_then(|read| read(&link)) {
        Ok(draft) => Ok((link.name, draft)),
        Err(why) => Err(left_out(&link.scheme, &link.name, Why::Wrong(why))),
    }
}

/// Reads the links of a scheme.
type Reader = fn(&Link) -> Result<Draft, String>;

/// What reads the links of a scheme. The text of an error goes on after "left out:".
fn reader(scheme: &str) -> Result<Reader, String> {
    Ok(match scheme {
        "ss" => shadowsocks::read,
        "trojan" => trojan::read,
        "vless" => vless::read,
        "vmess" => vmess::read,
        "socks" | "socks5" | "socks5h" | "socks4" | "socks4a" => socks::read,
        "http" | "https" => http::read,
        "hysteria2" | "hy2" => hysteria2::read,
        "tuic" => tuic::read,
        "wireguard" | "wg" => wireguard::read,
        _ => return Err("links of this kind are not read".to_owned()),
    })
}

/// White space, and what is as invisible.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
