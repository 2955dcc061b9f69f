//! Resolves the tags by which entries name each other: members, defaults, detours.
//! It must not know how a group chooses, nor how a detour is dialed.

use std::collections::HashMap;

use serde_json::Value;

use super::entries::text;
use super::findings::Findings;
use super::model::Entry;
use super::tags::Index;
use super::wording::{field, found, meant, quoted};
use crate::proxy_core::Kind;

/// Fills in members and defaults, and checks that every name leads somewhere.
pub(super) fn resolve(entries: &mut [Entry], index: &Index, findings: &mut Findings) {
    let mut resolver = Resolver {
        index,
        comparisons: COMPARISONS,
        findings,
    };
    let links: Vec<Links> = entries
        .iter()
        .map(|entry| resolver.links(entry, entries))
        .collect();
    for (entry, links) in entries.iter_mut().zip(links) {
        Links {
            members: entry.members,
            default: entry.default,
            detour: entry.detour,
        } = links;
    }
}

/// What an entry names.
struct Links {
    members: Vec<String>,
    default: Option<String>,
    detour: Option<String>,
}

/// Comparing one unknown tag with 100 000 known ones takes a tenth of a second:
/// after so many comparisons, mistakes get no suggestion any more.
const COMPARISONS: usize = 500_000;

struct Resolver<'a> {
    index: &'a Index,
    comparisons: usize,
    findings: &'a mut Findings,
}

impl Resolver<'_> {
    fn links(&mut self, entry: &Entry, entries: &[Entry]) -> Links {
        match entry.kind {
            Kind::Group => {
                if entry.detour.is_some() {
                    let message = "a group does not dial, so its detour is ignored";
                    self.findings
                        .warning(field(&entry.path, "detour"), message)
                        .hint = Some("set the detour at the members".to_owned());
                }
                let members = self.members(entry, entries);
                let default = self.default(entry, &members);
                Links {
                    members,
                    default,
                    detour: None,
                }
            }
            Kind::Outbound | Kind::Endpoint | Kind::Untestable => {
                self.detour(entry, entries);
                Links {
                    members: Vec::new(),
                    default: None,
                    detour: entry.detour.clone(),
                }
            }
        }
    }

    fn members(&mut self, group: &Entry, entries: &[Entry]) -> Vec<String> {
        let path = field(&group.path, "outbounds");
        let listed = match group.options.get("outbounds") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => items.as_slice(),
            // F-5: a bare string is a list of one.
            Some(item @ Value::String(_)) => std::slice::from_ref(item),
            Some(other) => {
                let message = format!("expected a list of tags (found {})", found(other));
                self.findings.error(path, message);
                return Vec::new();
            }
        };
        if listed.is_empty() {
            let message = format!("the group {} has no members", quoted(&group.tag));
            self.findings.error(&group.path, message).hint =
                Some("list the tags of at least one outbound in `outbounds`".to_owned());
        }
        let is_list = group.options.get("outbounds").is_some_and(Value::is_array);
        let mut members = Vec::with_capacity(listed.len());
        let mut firsts: HashMap<&str, usize> = HashMap::with_capacity(listed.len());
        for (position, item) in listed.iter().enumerate() {
            let path = if is_list {
                format!("{path}[{position}]")
            } else {
                path.clone()
            };
            let Value::String(tag) = item else {
                let message = format!("expected the tag of an outbound (found {})", found(item));
                self.findings.error(path, message);
                continue;
            };
            let first = *firsts.entry(tag).or_insert(position);
            if first != position {
                let message = format!(
                    "{} is already member {first} of this group; this one is dropped",
                    quoted(tag)
                );
                self.findings.warning(path, message).hint = Some("remove one of them".to_owned());
            } else if self.index.contains_key(tag) {
                members.push(tag.clone());
            } else {
                let message = format!("there is no outbound or endpoint {}", quoted(tag));
                let hint = self.suggestion(tag, entries);
                self.findings.error(path, message).hint = hint
                    .or_else(|| Some("correct the tag, or remove it from the group".to_owned()));
            }
        }
        members
    }

    fn default(&mut self, group: &Entry, members: &[String]) -> Option<String> {
        if group.type_name != "selector" {
            return None;
        }
        let default = text(&group.path, "default", &group.options, self.findings)?;
        if !members.contains(&default) {
            let message = format!("{} is not a member of this group", quoted(&default));
            let meant = meant(&default, members.iter().map(String::as_str));
            self.findings
                .error(field(&group.path, "default"), message)
                .hint = Some(match meant {
                Some(member) => format!("did you mean {}?", quoted(member)),
                None => "the default is one of the tags in `outbounds`".to_owned(),
            });
        }
        Some(default)
    }

    // D-5
    fn detour(&mut self, entry: &Entry, entries: &[Entry]) {
        let Some(detour) = &entry.detour else { return };
        if self.index.contains_key(detour) {
            return;
        }
        let message = format!(
            "there is no outbound or endpoint {} to dial through",
            quoted(detour)
        );
        let hint = self.suggestion(detour, entries);
        self.findings
            .warning(field(&entry.path, "detour"), message)
            .hint = hint.or_else(|| {
            Some(format!(
                "nothing can be dialed through {} like this",
                quoted(&entry.tag)
            ))
        });
    }

    fn suggestion(&mut self, tag: &str, entries: &[Entry]) -> Option<String> {
        self.comparisons = self.comparisons.checked_sub(entries.len())?;
        let meant = meant(tag, entries.iter().map(|entry| entry.tag.as_str()))?;
        Some(format!("did you mean {}?", quoted(meant)))
    }
}
