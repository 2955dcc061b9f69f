//! What monitoring would do with a core, in words.
//! It must not know a config, only what a core tells of itself.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use outwatch::{Kind, Network, Outbound, ProxyCore, Readiness};
use serde_json::Value;

use crate::cli::output::text;
use crate::cli::terminal::HEADING;

/// What would be tested, what not, and how groups lead; styled.
pub(super) fn of_core(core: &dyn ProxyCore) -> String {
    let outbounds = core.list();
    section("would be tested", &tested(core, &outbounds))
        + &section("would not be tested", &untested(core, &outbounds))
        + &section("groups lead to", &groups(core, &outbounds))
}

/// The options in force, one a line, as they would stand in a config.
pub(super) fn of_options(options: &str) -> String {
    let lines: Vec<String> = match serde_json::from_str(options) {
        Ok(Value::Object(options)) => options
            .iter()
            .map(|(name, value)| text::line(&format!("{name}: {value}")))
            .collect(),
        _ => Vec::new(),
    };
    section("options in force", &lines)
}

fn section(heading: &str, lines: &[String]) -> String {
    let mut out = String::new();
    if lines.is_empty() {
        return out;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n{HEADING}{heading}{HEADING:#}");
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// How many of each type.
fn tested(core: &dyn ProxyCore, outbounds: &[Outbound]) -> Vec<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for outbound in outbounds
        .iter()
        .filter(|outbound| why_not(core, outbound).is_none())
    {
        *counts.entry(&outbound.type_name).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let of_type = |(name, count): (&&str, &usize)| format!("{count:>5} {}", text::line(name));
    let mut lines: Vec<String> = counts.iter().map(of_type).collect();
    match lines.len() {
        0 => lines.push("    0 outbounds".to_owned()),
        1 => {}
        _ => lines.push(format!("{all:>5} in all")),
    }
    lines
}

/// Everything that is no group and is left out, each with the reason.
fn untested(core: &dyn ProxyCore, outbounds: &[Outbound]) -> Vec<String> {
    let left_out = outbounds
        .iter()
        .filter(|outbound| outbound.kind != Kind::Group);
    left_out
        .filter_map(|outbound| {
            let Outbound { tag, type_name, .. } = outbound;
            let why = why_not(core, outbound)?;
            Some(format!(
                "{} ({}): {}",
                text::line(tag),
                text::line(type_name),
                text::line(&why)
            ))
        })
        .collect()
}

/// Why an entry is not tested; none when it is.
fn why_not(core: &dyn ProxyCore, outbound: &Outbound) -> Option<String> {
    match outbound.kind {
        Kind::Group => Some("a group shows a member's result".to_owned()),
        Kind::Untestable => Some("it leads nowhere".to_owned()),
        Kind::Outbound | Kind::Endpoint => match core.status(&outbound.tag) {
            Readiness::Unsupported(why) => Some(why),
            Readiness::Ready | Readiness::NotReady(_) => None,
        },
    }
}

/// Each group with the way that its selection leads, to the leaf.
fn groups(core: &dyn ProxyCore, outbounds: &[Outbound]) -> Vec<String> {
    let by_tag: HashMap<&str, &Outbound> = outbounds
        .iter()
        .map(|outbound| (outbound.tag.as_str(), outbound))
        .collect();
    let groups = outbounds
        .iter()
        .filter(|outbound| outbound.kind == Kind::Group);
    groups
        .map(|group| {
            let Outbound {
                tag,
                type_name,
                members,
                ..
            } = group;
            let count = match members.len() {
                1 => "1 member".to_owned(),
                count => format!("{count} members"),
            };
            let way = way(core, &by_tag, group).join(" -> ");
            format!(
                "{} ({}, {count}) -> {way}",
                text::line(tag),
                text::line(type_name)
            )
        })
        .collect()
}

/// The tags after a group's own, as shown.
fn way(core: &dyn ProxyCore, by_tag: &HashMap<&str, &Outbound>, group: &Outbound) -> Vec<String> {
    let mut way = Vec::new();
    let mut seen = HashSet::from([group.tag.clone()]);
    let mut at = group.tag.clone();
    loop {
        let Some(next) = core.selected(&at, Network::Tcp) else {
            way.push("the best of its members, once tested".to_owned());
            return way;
        };
        way.push(text::line(&next));
        let leads_on = by_tag
            .get(next.as_str())
            .is_some_and(|next| next.kind == Kind::Group);
        if !leads_on || !seen.insert(next.clone()) {
            return way;
        }
        at = next;
    }
}
