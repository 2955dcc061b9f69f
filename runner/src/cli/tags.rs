//! Which outbounds a person asks for by tag.
//! It must not know how they are tested or shown.

use std::collections::{HashMap, HashSet};

use outwatch::{Kind, Outbound, ProxyCore};

use super::exit::Exit;
use super::failure::Failure;

/// Tags less alike than this (0 to 1, Jaro-Winkler) are not proposed.
const ALIKE: f64 = 0.75;

/// What is to be tested, and what is to be shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Outbounds and endpoints, each once.
    pub(crate) leaves: Vec<String>,
    /// The same and the groups asked for.
    pub(crate) shown: HashSet<String>,
}

/// Everything when no tag is given; else these, with the members of groups.
///
/// # Errors
/// When a tag is not in the config, or is never tested.
pub(crate) fn asked(core: &dyn ProxyCore, tags: &[String]) -> Result<Asked, Failure> {
    let outbounds = core.list();
    let by_tag: HashMap<&str, &Outbound> = outbounds
        .iter()
        .map(|outbound| (outbound.tag.as_str(), outbound))
        .collect();
    let mut asked = Asked {
        leaves: Vec::new(),
        shown: HashSet::new(),
    };
    if tags.is_empty() {
        for outbound in &outbounds {
            asked.add(&by_tag, outbound);
        }
    }
    for tag in tags {
        asked.add(&by_tag, find(&outbounds, tag)?);
    }
    Ok(asked)
}

/// The outbound or group of a tag that a person names.
///
/// # Errors
/// When there is none, or it is never tested.
pub(crate) fn find<'a>(outbounds: &'a [Outbound], tag: &str) -> Result<&'a Outbound, Failure> {
    let found = outbounds.iter().find(|outbound| outbound.tag == tag);
    let outbound = found.ok_or_else(|| unknown(tag, outbounds))?;
    if outbound.kind == Kind::Untestable {
        let type_name = &outbound.type_name;
        let message = format!("`{tag}` is never tested: it is of type `{type_name}`");
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(outbound)
}

impl Asked {
    /// Adds an outbound, or a group and all that it can lead to.
    fn add(&mut self, by_tag: &HashMap<&str, &Outbound>, outbound: &Outbound) {
        let Outbound {
            tag, kind, members, ..
        } = outbound;
        if *kind == Kind::Untestable || !self.shown.insert(tag.clone()) {
            return;
        }
        if *kind != Kind::Group {
            self.leaves.push(tag.clone());
        }
        for member in members
            .iter()
            .filter_map(|member| by_tag.get(member.as_str()))
        {
            self.add(by_tag, member);
        }
    }
}

fn unknown(tag: &str, outbounds: &[Outbound]) -> Failure {
    let failure = Failure::new(Exit::Usage, format!("the config has no outbound `{tag}`"));
    let wanted = tag.to_lowercase();
    let alike = |outbound: &Outbound| strsim::jaro_winkler(&outbound.tag.to_lowercase(), &wanted);
    let nearest = outbounds
        .iter()
        .max_by(|a, b| alike(a).total_cmp(&alike(b)));
    match nearest.filter(|nearest| alike(nearest) >= ALIKE) {
        Some(nearest) => failure.hint(format!("did you mean `{}`?", nearest.tag)),
        None => failure.hint("`outwatch test` without a tag shows all of them"),
    }
}
