//! Knows the files that people take for a config: subscriptions, other programs'
//! configs, app settings, web pages. It must not know how a config is read.

mod document;

use super::base64;
use super::syntax::Fault;

pub(super) use document::config;

const GOES_INTO: &str =
    "Outwatch reads a sing-box style JSON config; have an app or a converter make one from it";

const IMPORT: &str = "`outwatch import FILE` makes a config of it";

/// What `text` is when it cannot even be JSON: a fault that says what it looks
/// like. None when it may be JSON, or cannot be told.
pub(super) fn text(text: &str) -> Option<Fault> {
    let Some(first) = lines(text).next() else {
        return text.trim().is_empty().then(|| {
            Fault::new(
                0,
                "the file is empty",
                "a config is an object with `outbounds`; see examples/",
            )
        });
    };
    if is_section(first) {
        return Some(section(first));
    }
    if first.starts_with(['{', '[', '"', '/']) {
        return None;
    }
    let (looks, hint) = page(first)
        .or_else(|| links(text, first))
        .or_else(|| base64_text(text))
        .or_else(|| yaml(text, first))
        .or_else(|| list(text))?;
    Some(Fault::new(
        0,
        format!("this looks like {looks}, not a config for Outwatch"),
        hint,
    ))
}

/// The lines of `text` that are neither empty nor comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"))
}

fn page(first: &str) -> Option<(String, &'static str)> {
    if !first.starts_with('<') {
        return None;
    }
    let looks = if first.starts_with("<?xml") {
        "XML"
    } else {
        "an HTML page"
    };
    Some((
        looks.to_owned(),
        "the address it came from shows a page; open it in a browser to see what it says",
    ))
}

/// Schemes of share links.
const LINKS: [&str; 18] = [
    "vless",
    "vmess",
    "trojan",
    "ss",
    "ssr",
    "hysteria",
    "hysteria2",
    "hy2",
    "tuic",
    "anytls",
    "naive",
    "wireguard",
    "wg",
    "warp",
    "ssh",
    "socks",
    "socks5",
    "juicity",
];

fn links(text: &str, first: &str) -> Option<(String, &'static str)> {
    let scheme = scheme(first)?;
    if ["http", "https"].contains(&scheme) && lines(text).nth(1).is_none() {
        return Some((
            "a web address".to_owned(),
            "save what is at that address, and give that file",
        ));
    }
    let count = count_links(text);
    (count > 0).then(|| (amount(count), IMPORT))
}

fn count_links(text: &str) -> usize {
    lines(text)
        .filter(|line| scheme(line).is_some_and(|scheme| LINKS.contains(&scheme)))
        .count()
}

fn amount(links: usize) -> String {
    if links == 1 {
        "a share link".to_owned()
    } else {
        format!("a list of {links} share links")
    }
}

fn scheme(line: &str) -> Option<&str> {
    line.split_once("://").map(|(scheme, _)| scheme)
}

/// What holds fewer bytes than this is a word.
const BASE64_LENGTH: usize = 15;

fn base64_text(text: &str) -> Option<(String, &'static str)> {
    let inside = base64::decode(text)?;
    if inside.len() < BASE64_LENGTH {
        return None;
    }
    let inside = String::from_utf8_lossy(&inside).into_owned();
    Some(
        match (
            count_links(&inside),
            inside.trim_start().starts_with(['{', '[']),
        ) {
            (0, true) => (
                "base64 text with JSON inside".to_owned(),
                "decode it first: base64 -d",
            ),
            (0, false) => ("base64 text".to_owned(), GOES_INTO),
            (count, _) => (
                format!("base64 text with {} inside (a subscription)", amount(count)),
                IMPORT,
            ),
        },
    )
}

/// Keys that only a Clash config has.
const CLASH: [&str; 6] = [
    "proxies",
    "proxy-groups",
    "proxy-providers",
    "mixed-port",
    "rule-providers",
    "external-controller",
];

fn yaml(text: &str, first: &str) -> Option<(String, &'static str)> {
    if !(first == "---" || first.starts_with("- ") || yaml_key(first).is_some()) {
        return None;
    }
    let clash = lines(text)
        .filter_map(yaml_key)
        .any(|key| CLASH.contains(&key));
    let looks = if clash {
        "a Clash or mihomo config (YAML)"
    } else {
        "YAML"
    };
    Some((looks.to_owned(), GOES_INTO))
}

fn yaml_key(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    (word && (value.is_empty() || value.starts_with(' '))).then_some(key)
}

fn list(text: &str) -> Option<(String, &'static str)> {
    if lines(text).all(|line| line.contains('=')) {
        return Some(("settings of the form key = value".to_owned(), GOES_INTO));
    }
    let entry = |line: &str| !line.contains([' ', '"', '{']) && line.contains(['.', ':']);
    lines(text).all(entry).then(|| {
        let count = lines(text).count();
        (
            format!("a plain list of {count} {}", if count == 1 { "address" } else { "addresses" }),
            "an outbound for one is { \"type\": \"socks\", \"server\": \"192.0.2.1\", \"server_port\": 1080 }",
        )
    })
}

/// Whether a line is `[Word]`, the head of a section.
fn is_section(line: &str) -> bool {
    let name = line
        .strip_prefix('[')
        .and_then(|line| line.strip_suffix(']'));
    name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ')
    })
}

fn section(line: &str) -> Fault {
    let looks = match line {
        "[Interface]" | "[Peer]" => "a WireGuard config",
        _ => "a config with sections, as of Surge or Quantumult",
    };
    Fault::new(
        0,
        format!("this looks like {looks}, not a config for Outwatch"),
        GOES_INTO,
    )
}
