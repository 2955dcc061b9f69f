//! From what links share to one config: tags, groups, what is known of IPv6. It must not
//! know any scheme.

use serde_json::{Map, Value, json};

use super::Shared;
use super::draft::Draft;
use crate::config::Names;

/// The group that people choose in.
const CHOICE: &str = "select";

/// The group that chooses by itself.
const FASTEST: &str = "auto";

/// Gives each a tag of its own: its name, or else where its server is.
pub(super) fn with_tags(drafts: Vec<(usize, String, Draft)>) -> Vec<Shared> {
    let mut names = Names::default();
    for (at, group) in [CHOICE, FASTEST].into_iter().enumerate() {
        names.make(group, at);
    }
    let shared = drafts
        .into_iter()
        .enumerate()
        .map(|(at, (line, name, draft))| {
            let name = match name.is_empty() {
                true => format!("{} {}", draft.type_name, draft.place),
                false => name,
            };
            let tag = names.make(&name, at);
            let mut options = Map::new();
            options.insert("type".to_owned(), draft.type_name.into());
            options.insert("tag".to_owned(), tag.as_str().into());
            options.extend(draft.fields);
            Shared {
                line,
                tag,
                ipv6: draft.ipv6,
                doubts: draft.doubts,
                is_endpoint: draft.is_endpoint,
                options,
            }
        });
    shared.collect()
}

/// The config of these.
pub(super) fn config(shared: &[Shared]) -> Value {
    let tags: Vec<&str> = shared.iter().map(|shared| shared.tag.as_str()).collect();
    let all_and_fastest: Vec<&str> = [FASTEST].into_iter().chain(tags.iter().copied()).collect();
    let mut outbounds = Vec::new();
    let mut endpoints = Vec::new();
    if !tags.is_empty() {
        outbounds.push(json!({
            "type": "selector", "tag": CHOICE, "outbounds": all_and_fastest,
        }));
        outbounds.push(json!({ "type": "urltest", "tag": FASTEST, "outbounds": tags }));
    }
    for shared in shared {
        let object = Value::Object(shared.options.clone());
        if shared.is_endpoint {
            endpoints.push(object);
        } else {
            outbounds.push(object);
        }
    }
    let mut config = json!({ "outbounds": outbounds });
    if !endpoints.is_empty() {
        config["endpoints"] = endpoints.into();
    }
    let declared: Map<String, Value> = shared
        .iter()
        .filter_map(|shared| Some((shared.tag.clone(), shared.ipv6?.into())))
        .collect();
    if !declared.is_empty() {
        config["experimental"] = json!({ "monitoring": { "ipv6_declared": declared } });
    }
    config
}
