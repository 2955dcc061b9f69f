//! Reads `route` of a config: where everything goes. It must not know what an outbound
//! does.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::config::Entry;
use crate::core::options::{Reader, take};
use crate::report::{Problem, Severity};

/// Fields of sing-box that only serve rules, its resolver or its own sockets.
const HARMLESS: &[&str] = &[
    "auto_detect_interface",
    "default_domain_resolver",
    "default_fallback_delay",
    "default_fallback_network_type",
    "default_http_client",
    "default_network_strategy",
    "default_network_type",
    "find_neighbor",
    "find_process",
    "geoip",
    "geosite",
    "override_android_vpn",
    "rule_set",
];

/// Where connections of users go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The tag of the outbound or group that all go through: `final`, or else the first
    /// outbound of the config. None when the config has none.
    pub final_tag: Option<String>,
}

impl Route {
    /// Reads `route` of a config with these entries.
    ///
    /// Rules are accepted and not applied, which is one warning, however many. A
    /// `final` that names nothing is an error.
    pub fn read(route: &Map<String, Value>, entries: &[Entry]) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut reader = Reader::new("route", &mut problems);
        let first = entries.first().map(|entry| entry.tag.clone());
        let final_tag = named(route.clone(), &mut reader)
            .filter(|tag| {
                let known = entries.iter().any(|entry| entry.tag == *tag);
                if !known {
                    reader.error("final", format!("there is no outbound `{tag}`"));
                }
                known
            })
            .or(first);
        problems.sort_by_key(|problem| problem.severity == Severity::Warning);
        (Self { final_tag }, problems)
    }
}

/// `final`, where it is given.
fn named(mut route: Map<String, Value>, reader: &mut Reader<'_>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(default, rename_all = "snake_case")]
    #[derive(Default)]
    struct Fields {
        r#final: Option<String>,
    }

    take(&mut route, HARMLESS);
    let rules = route.remove("rules");
    if rules.is_some_and(|rules| !matches!(&rules, Value::Array(list) if list.is_empty())) {
        let message = "rules are not applied: every connection goes through `final`";
        reader.warning("rules", message);
    }
    for (name, _) in take(&mut route, &["default_interface", "default_mark"]) {
        reader.warning(&name, "not done here; it has no effect");
    }
    let fields: Fields = reader.read(route)?;
    fields.r#final.filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::{self, LoadOptions};

    /// `final_tag`, and the problems as `severity path: message`.
    fn read(config: &Value) -> (Option<String>, Vec<String>) {
        let text = config.to_string();
        let loaded = config::read("test", text.as_bytes(), &LoadOptions::default());
        let config = loaded.config.unwrap();
        let (route, problems) = Route::read(&config.route, &config.entries);
        let told = problems
            .iter()
            .map(|p| format!("{:?} {}: {}", p.severity, p.path, p.message));
        (route.final_tag, told.collect())
    }

    fn with_route(route: &Value) -> Value {
        json!({
            "outbounds": [{ "type": "direct", "tag": "one" }, { "type": "direct", "tag": "two" }],
            "route": route,
        })
    }

    #[test]
    fn all_goes_through_final_or_else_through_the_first_outbound() {
        let found = |route: Value| read(&with_route(&route));
        assert_eq!(found(json!({})), (Some("one".into()), vec![]));
        assert_eq!(found(json!({ "final": "" })), (Some("one".into()), vec![]));
        assert_eq!(
            found(json!({ "final": "two" })),
            (Some("two".into()), vec![])
        );
        assert_eq!(read(&json!({ "outbounds": [] })), (None, vec![]));
    }

    #[test]
    fn a_final_that_names_nothing_is_an_error_with_its_path() {
        let (_, problems) = read(&with_route(&json!({ "final": "three" })));
        assert_eq!(
            problems,
            ["Error route.final: there is no outbound `three`"]
        );
    }

    #[test]
    fn rules_are_one_warning_however_many() {
        let rules = json!({
            "rules": [{ "ip_is_private": true, "outbound": "one" }, { "action": "sniff" }],
            "rule_set": [{ "tag": "x" }], "auto_detect_interface": true,
        });
        let (tag, problems) = read(&with_route(&rules));
        assert_eq!(tag.as_deref(), Some("one"));
        assert_eq!(
            problems,
            ["Warning route.rules: rules are not applied: every connection goes through `final`"]
        );
        assert!(read(&with_route(&json!({ "rules": [] }))).1.is_empty());
    }

    #[test]
    fn f4_an_unknown_field_is_a_warning() {
        let (_, problems) = read(&with_route(&json!({ "finale": "one" })));
        assert_eq!(
            problems,
            ["Warning route.finale: unknown field; it has no effect"]
        );
    }
}
