//! Knows the JSON documents that people take for a config. It must not know how
//! a config is read.

use serde_json::{Map, Value};

use super::{GOES_INTO, IMPORT};
use crate::config::findings::Findings;
use crate::config::wording::found;

/// The object that a config is, or an error that says what `document` looks like.
pub(in crate::config) fn config(
    document: Value,
    findings: &mut Findings,
) -> Option<Map<String, Value>> {
    let root = match document {
        Value::Object(root) => root,
        other => {
            let (message, hint) = no_object(&other);
            findings.error("", message).hint = Some(hint.to_owned());
            return None;
        }
    };
    match foreign(&root) {
        Some(Foreign { path, looks, hint }) => {
            findings
                .error(
                    path,
                    format!("this looks like {looks}, not a config for Outwatch"),
                )
                .hint = Some(hint.to_owned());
            None
        }
        None => Some(root),
    }
}

fn no_object(document: &Value) -> (String, &'static str) {
    const WRAP: &str = "put it into an object: { \"outbounds\": [...] }";
    match document.as_array().and_then(|items| items.first()) {
        Some(Value::Object(item)) if item.contains_key("type") => (
            "this looks like a list of outbounds without the config around it".to_owned(),
            WRAP,
        ),
        Some(Value::String(item)) if item.contains("://") => (
            "this looks like a list of share links, not a config for Outwatch".to_owned(),
            IMPORT,
        ),
        _ => (
            format!("a config is an object (found {})", found(document)),
            "the least is { \"outbounds\": [...] }",
        ),
    }
}

/// Another program's document, and what shows it.
struct Foreign {
    path: String,
    looks: &'static str,
    hint: &'static str,
}

fn foreign(root: &Map<String, Value>) -> Option<Foreign> {
    if let Some(path) = xray(root) {
        return Some(Foreign {
            path,
            looks: "a config of Xray or V2Ray",
            hint: XRAY,
        });
    }
    // A config's own sections, even broken ones, outweigh everything else.
    if root.contains_key("outbounds") || root.contains_key("endpoints") {
        return None;
    }
    let shows = |keys: &[&str], looks, hint| {
        let path = (*keys.iter().find(|key| root.contains_key(**key))?).to_owned();
        Some(Foreign { path, looks, hint })
    };
    if root.get("proxies").is_some_and(Value::is_array) || root.contains_key("proxy-groups") {
        return shows(
            &["proxies", "proxy-groups"],
            "a Clash or mihomo config",
            GOES_INTO,
        );
    }
    if root.get("servers").is_some_and(Value::is_array) {
        return shows(
            &["servers"],
            "a list of Shadowsocks servers (SIP008)",
            GOES_INTO,
        );
    }
    if root.get("type").is_some_and(Value::is_string) {
        return shows(
            &["type"],
            "one outbound",
            "put it into { \"outbounds\": [...] }",
        );
    }
    settings(root).map(|key| Foreign {
        path: key.to_owned(),
        looks: "the settings of an app",
        hint: APP,
    })
}

const XRAY: &str = "an outbound of sing-box has a `type`, not a `protocol`; have an app or a converter make a sing-box config of it";

const APP: &str = "settings hold no outbounds; export the app's profile or its full config, which has `outbounds`";

/// The path of what makes the document one of Xray or V2Ray.
fn xray(root: &Map<String, Value>) -> Option<String> {
    if root.contains_key("outboundDetour") {
        return Some("outboundDetour".to_owned());
    }
    ["outbounds", "inbounds"].into_iter().find_map(|section| {
        let items = root.get(section)?.as_array()?;
        if items.iter().any(|item| item.get("type").is_some()) {
            return None;
        }
        let index = items
            .iter()
            .position(|item| item.get("protocol").is_some_and(Value::is_string))?;
        Some(format!("{section}[{index}].protocol"))
    })
}

/// Keys at the top of settings files of apps made around sing-box.
const SETTINGS: [&str; 20] = [
    "region",
    "log-level",
    "resolve-destination",
    "ipv6-mode",
    "remote-dns-address",
    "remote-dns-domain-strategy",
    "direct-dns-address",
    "direct-dns-domain-strategy",
    "connection-test-url",
    "url-test-interval",
    "mixed-port",
    "local-dns-port",
    "tun-implementation",
    "strict-route",
    "service-mode",
    "enable-clash-api",
    "clash-api-port",
    "bypass-lan",
    "allow-connection-from-lan",
    "block-ads",
];

/// The first key of app settings, where there are at least two of them, or three
/// that are written like them: no config has keys with hyphens.
fn settings(root: &Map<String, Value>) -> Option<&str> {
    let known = |key: &str| SETTINGS.contains(&key);
    let alike = |key: &str| known(key) || (key.contains('-') && !key.contains(' '));
    let count = |is: &dyn Fn(&str) -> bool| root.keys().filter(|key| is(key)).count();
    if count(&known) < 2 && count(&alike) < 3 {
        return None;
    }
    root.keys().map(String::as_str).find(|key| alike(key))
}
