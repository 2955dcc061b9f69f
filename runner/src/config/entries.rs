//! From the lists `outbounds` and `endpoints` to entries whose tags, members and
//! detours hold together (SPEC F-5). It must not know any protocol's fields.

use serde_json::{Map, Value};

use super::LoadOptions;
use super::findings::Findings;
use super::fingerprint::fingerprint;
use super::loops;
use super::model::Entry;
use super::references;
use super::tags;
use super::wording::{field, found};
use crate::proxy_core::Kind;

/// Types that are groups even without members.
const GROUPS: [&str; 3] = ["selector", "urltest", "balancer"];

/// Types that are none, whatever fields they have.
const LEAVES: [&str; 8] = [
    "direct",
    "block",
    "dns",
    "socks",
    "http",
    "shadowsocks",
    "trojan",
    "vless",
];

/// Takes the outbounds and endpoints out of the config.
pub(super) fn read(
    root: &mut Map<String, Value>,
    options: &LoadOptions,
    findings: &mut Findings,
) -> Vec<Entry> {
    let sections = ["outbounds", "endpoints"].map(|section| root.get(section));
    if sections == [None, None] {
        let message = "there is nothing to test: no `outbounds` and no `endpoints`";
        findings.error("", message).hint =
            Some("is it the whole config? the least is { \"outbounds\": [...] }".to_owned());
    } else if sections.into_iter().flatten().all(is_empty) {
        let message = "there is nothing to test: no outbound and no endpoint is listed";
        findings.warning("", message);
    }
    let mut drafts = list(root, Section::Outbounds, findings);
    drafts.append(&mut list(root, Section::Endpoints, findings));
    let (mut entries, index) = tags::assign(drafts, options, findings);
    references::resolve(&mut entries, &index, findings);
    loops::find(&entries, &index, findings);
    entries
}

/// An entry before tags are settled.
pub(super) struct Draft {
    /// Its tag is the file's, or the one for an entry without.
    pub(super) entry: Entry,
    /// The tag is the file's.
    pub(super) tagged: bool,
}

#[derive(Clone, Copy)]
enum Section {
    Outbounds,
    Endpoints,
}

impl Section {
    fn name(self) -> &'static str {
        match self {
            Self::Outbounds => "outbounds",
            Self::Endpoints => "endpoints",
        }
    }

    /// The tag of an entry that has none. An endpoint's cannot be its index: that
    /// is the tag of an outbound.
    fn tag(self, index: usize) -> String {
        match self {
            Self::Outbounds => index.to_string(),
            Self::Endpoints => format!("endpoints[{index}]"),
        }
    }

    fn kind(self, type_name: &str, fields: &Map<String, Value>) -> Kind {
        match (self, type_name) {
            (Self::Endpoints, _) => Kind::Endpoint,
            // T-1
            (Self::Outbounds, "block" | "dns") => Kind::Untestable,
            (Self::Outbounds, name) if GROUPS.contains(&name) => Kind::Group,
            // A group of a kind that only other cores know.
            (Self::Outbounds, name)
                if !LEAVES.contains(&name) && fields.get("outbounds").is_some_and(is_list) =>
            {
                Kind::Group
            }
            (Self::Outbounds, _) => Kind::Outbound,
        }
    }
}

fn is_empty(section: &Value) -> bool {
    section.is_null() || section.as_array().is_some_and(Vec::is_empty)
}

fn is_list(value: &Value) -> bool {
    value.is_array() || value.is_string()
}

fn list(root: &mut Map<String, Value>, section: Section, findings: &mut Findings) -> Vec<Draft> {
    let path = section.name();
    let items = match root.get_mut(path).map(Value::take) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(other) => {
            let message = format!("expected a list of objects (found {})", found(&other));
            findings.error(path, message).hint = Some(format!("write \"{path}\": [ {{ ... }} ]"));
            Vec::new()
        }
    };
    items
        .into_iter()
        .enumerate()
        .filter_map(|(index, item)| draft(section, index, item, findings))
        .collect()
}

fn draft(section: Section, index: usize, item: Value, findings: &mut Findings) -> Option<Draft> {
    let path = format!("{}[{index}]", section.name());
    let fields = match item {
        Value::Object(fields) => fields,
        other => {
            findings
                .error(
                    &path,
                    format!("expected an object (found {})", found(&other)),
                )
                .hint = Some(instead_of(&other));
            return None;
        }
    };
    // An entry without a type stays, so that what leads to it is no error too.
    let type_name = type_name(&path, &fields, findings).unwrap_or_default();
    let kind = section.kind(&type_name, &fields);
    let tag = text(&path, "tag", &fields, findings);
    let fingerprint = match kind {
        Kind::Group => String::new(),
        Kind::Outbound | Kind::Endpoint | Kind::Untestable => fingerprint(&type_name, &fields),
    };
    Some(Draft {
        tagged: tag.is_some(),
        entry: Entry {
            tag: tag.unwrap_or_else(|| section.tag(index)),
            type_name,
            kind,
            detour: text(&path, "detour", &fields, findings),
            members: Vec::new(),
            default: None,
            fingerprint,
            path,
            options: fields,
        },
    })
}

fn instead_of(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains("://") => {
            "a share link has to be turned into an object first, by an app or a converter"
        }
        _ => "an outbound is { \"type\": ..., \"tag\": ... }",
    }
    .to_owned()
}

fn type_name(path: &str, fields: &Map<String, Value>, findings: &mut Findings) -> Option<String> {
    const HINT: &str = "the type is a word such as \"socks\", \"http\", \"direct\" or \"selector\"";
    let (at, message) = match fields.get("type") {
        Some(Value::String(name)) if !name.is_empty() => return Some(name.clone()),
        None => (path.to_owned(), "the field `type` is missing".to_owned()),
        Some(other) => (
            field(path, "type"),
            format!("expected the name of a type (found {})", found(other)),
        ),
    };
    findings.error(at, message).hint = Some(HINT.to_owned());
    None
}

/// A text field of an entry; empty and null are as good as absent.
pub(super) fn text(
    path: &str,
    key: &str,
    fields: &Map<String, Value>,
    findings: &mut Findings,
) -> Option<String> {
    match fields.get(key)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        other => {
            let message = format!("expected a text in double quotes (found {})", found(other));
            findings.error(field(path, key), message);
            None
        }
    }
}
