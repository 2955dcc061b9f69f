//! What an outbound is dialed through, link by link, and whether each is ready. It must not
//! know what came of a test.

use outwatch::{Kind, Network, Outbound, ProxyCore, Readiness};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::tags;

/// An outbound or group on the way.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) tag: String,
    /// None where there is no such outbound.
    pub(super) type_name: Option<String>,
    /// The next one: its detour, or where a group leads.
    pub(super) through: Option<String>,
    /// Whether it is a group.
    pub(super) is_group: bool,
    pub(super) readiness: Readiness,
}

/// What is to be tested for `tag`: it, or what it leads to.
///
/// # Errors
/// When there is no such outbound, it is never tested, or the group leads nowhere yet.
pub(super) fn leaf(core: &dyn ProxyCore, tag: &str) -> Result<String, Failure> {
    let listed = core.list();
    let mut tag = tag.to_owned();
    // No way is longer than there are outbounds: a loop ends.
    for _ in 0..=listed.len() {
        let outbound = tags::find(&listed, &tag)?;
        if outbound.kind != Kind::Group {
            return Ok(tag);
        }
        let members = &outbound.members;
        let Some(selected) = core.selected(&tag, Network::Tcp) else {
            let message = format!("the group `{tag}` chooses by results, and there are none yet");
            let members = members.join("`, `");
            return Err(Failure::new(Exit::Usage, message)
                .hint(format!("name one of its members: `{members}`")));
        };
        tag = selected;
    }
    Err(Failure::unexpected(format!(
        "the group `{tag}` leads to itself"
    )))
}

/// The way of an outbound, itself first.
pub(super) fn of(core: &dyn ProxyCore, tag: &str) -> Vec<Link> {
    let listed = core.list();
    let mut chain: Vec<Link> = Vec::new();
    let mut next = Some(tag.to_owned());
    while let Some(tag) = next.take() {
        if chain.iter().any(|link| link.tag == tag) {
            break;
        }
        let outbound = listed.iter().find(|outbound| outbound.tag == tag);
        let link = link(core, tag, outbound);
        next.clone_from(&link.through);
        chain.push(link);
    }
    chain
}

fn link(core: &dyn ProxyCore, tag: String, outbound: Option<&Outbound>) -> Link {
    let is_group = outbound.is_some_and(|outbound| outbound.kind == Kind::Group);
    Link {
        type_name: outbound.map(|outbound| outbound.type_name.clone()),
        through: match is_group {
            true => core.selected(&tag, Network::Tcp),
            false => outbound.and_then(|outbound| outbound.detour.clone()),
        },
        is_group,
        readiness: core.status(&tag),
        tag,
    }
}
