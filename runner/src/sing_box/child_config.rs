//! The config that sing-box is started with, made of the user's own outbounds and one
//! SOCKS inbound of ours. It must not know how sing-box is started.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::outbounds::Outbounds;
use super::selections::Selections;
use crate::config::Entry;
use crate::proxy_core::{Kind, Network};

/// The tag of our inbound, by which the log speaks of it.
pub(super) const INBOUND: &str = "outwatch";

/// What of `route` says how sockets dial; its rules are for traffic that is not ours.
const ROUTE: [&str; 8] = [
    "auto_detect_interface",
    "default_domain_resolver",
    "default_fallback_delay",
    "default_fallback_network_type",
    "default_interface",
    "default_mark",
    "default_network_strategy",
    "default_network_type",
];

/// Who may use the SOCKS inbound and the API of one sing-box: only its starter.
#[derive(Clone)]
pub(super) struct Keys {
    pub(super) password: String,
    /// None where the program has no API.
    pub(super) api_secret: Option<String>,
}

/// A config, and where what it lists stands in the user's file.
pub(super) struct Written {
    pub(super) text: String,
    outbounds: Vec<usize>,
    endpoints: Vec<usize>,
    dns_rules: Vec<usize>,
}

/// The user of the inbound that is led to the outbound at this place.
pub(super) fn user(index: usize) -> String {
    index.to_string()
}

impl Written {
    /// All that is not left out, and nothing that the outbounds do not need.
    pub(super) fn new(outbounds: &Outbounds, selections: &Selections, keys: &Keys) -> Self {
        Self::part(outbounds, 0..outbounds.entries.len(), selections, keys)
    }

    /// The same of the outbounds at these places alone. sing-box can check it, but not run
    /// it: what an outbound leads to or dials through may be in another part.
    pub(super) fn part(
        outbounds: &Outbounds,
        places: Range<usize>,
        selections: &Selections,
        keys: &Keys,
    ) -> Self {
        let mut written = Self {
            text: String::new(),
            outbounds: Vec::new(),
            endpoints: Vec::new(),
            dns_rules: Vec::new(),
        };
        let (mut lists, mut users, mut rules) = ([vec![], vec![]], vec![], vec![]);
        for (index, entry) in outbounds.entries.iter().enumerate() {
            if !places.contains(&index) || outbounds.why_left_out(index).is_some() {
                continue;
            }
            let [as_outbounds, as_endpoints] = &mut lists;
            match entry.kind {
                Kind::Endpoint => {
                    written.endpoints.push(index);
                    as_endpoints.push(plain(entry));
                }
                Kind::Group => {
                    written.outbounds.push(index);
                    as_outbounds.push(selector(outbounds, entry, selections));
                    continue;
                }
                Kind::Outbound | Kind::Untestable => {
                    written.outbounds.push(index);
                    as_outbounds.push(plain(entry));
                }
            }
            let user = user(index);
            users.push(json!({ "username": user, "password": keys.password }));
            rules.push(json!({ "auth_user": [user], "action": "route", "outbound": entry.tag }));
        }
        rules.push(json!({ "action": "reject" }));
        let [as_outbounds, as_endpoints] = lists;
        let mut config = json!({
            // Each dial is told at `info`, and its error at `error`.
            "log": { "level": "info", "timestamp": false },
            "inbounds": [{
                "type": "socks", "tag": INBOUND, "listen": "127.0.0.1", "listen_port": 0,
                "users": users,
            }],
            "outbounds": as_outbounds,
            "endpoints": as_endpoints,
            "route": route(outbounds.sections.get("route"), rules),
        });
        for name in ["certificate", "http_clients"] {
            if let Some(section) = outbounds.sections.get(name) {
                config[name] = section.clone();
            }
        }
        if let Some(dns) = outbounds.sections.get("dns") {
            config["dns"] = written.dns(dns);
        }
        if let Some(secret) = &keys.api_secret {
            config["experimental"] = json!({
                "clash_api": { "external_controller": "127.0.0.1:0", "secret": secret },
            });
        }
        written.text = config.to_string();
        written
    }

    /// Where `path` of this config stands in the user's file: the outbound, if it is in
    /// one, and the path there.
    pub(super) fn in_file(&self, path: &str, entries: &[Entry]) -> (Option<usize>, String) {
        let listed = |list: &[usize], name: &str| {
            let (index, rest) = path
                .strip_prefix(name)?
                .strip_prefix('[')?
                .split_once(']')?;
            let index = *list.get(index.parse::<usize>().ok()?)?;
            Some((index, rest))
        };
        let entry = listed(&self.outbounds, "outbounds")
            .or_else(|| listed(&self.endpoints, "endpoints"))
            .and_then(|(index, rest)| Some((index, format!("{}{rest}", entries.get(index)?.path))));
        if let Some((index, path)) = entry {
            return (Some(index), path);
        }
        if let Some((index, rest)) = listed(&self.dns_rules, "dns.rules") {
            return (None, format!("dns.rules[{index}]{rest}"));
        }
        (None, path.to_owned())
    }

    /// Rules by rule sets are left out: sets belong to `route`, may have to be fetched
    /// first, and decide nothing about an outbound's own server.
    fn dns(&mut self, dns: &Value) -> Value {
        let mut dns = dns.clone();
        if let Some(Value::Array(rules)) = dns.get_mut("rules") {
            let all = std::mem::take(rules).into_iter().enumerate();
            for (index, rule) in all.filter(|(_, rule)| !mentions(rule, "rule_set")) {
                self.dns_rules.push(index);
                rules.push(rule);
            }
        }
        dns
    }
}

/// As in the file, with the tag and detour that the config's reader settled.
fn plain(entry: &Entry) -> Value {
    let mut options = entry.options.clone();
    options.insert("tag".to_owned(), entry.tag.clone().into());
    options.retain(|_, value| !value.is_null());
    Value::Object(options)
}

/// Groups are only dialed through by detours: each leads where it was told to.
fn selector(outbounds: &Outbounds, group: &Entry, selections: &Selections) -> Value {
    let mut selector = json!({
        "type": "selector", "tag": group.tag,
        "outbounds": outbounds.members(group).collect::<Vec<_>>(),
        "default": outbounds.lead(group, Network::Tcp, selections),
    });
    if let Some(interrupt) = group.options.get("interrupt_exist_connections") {
        selector["interrupt_exist_connections"] = interrupt.clone();
    }
    selector
}

fn route(given: Option<&Value>, rules: Vec<Value>) -> Value {
    let mut route: Map<String, Value> = ROUTE
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), given?.get(name)?.clone())))
        .collect();
    route.insert("rules".to_owned(), rules.into());
    Value::Object(route)
}

fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| key == name || mentions(value, name)),
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
