//! The promises of what a core says of itself. They must not dial.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::{Broken, Scene};
use crate::proxy_core::{Cause, Host, Kind, Network, ProxyCore, SelectError, Target};

/// What takes longer has waited for something.
const AT_ONCE: Duration = Duration::from_millis(250);

/// A tag that no core has.
const STRANGER: &str = "no outbound has this tag: \u{1F6AB}/%2F#\0";

/// Longer fingerprints are cut by the monitor, and then stand for nothing.
const FINGERPRINT: usize = 128;

/// `list` gives every outbound once, in the same order each time, and groups name members
/// that exist.
pub fn lists<C: ProxyCore + ?Sized>(core: &C) -> Vec<Broken> {
    let mut broken = Vec::new();
    let list = core.list();
    if list != core.list() {
        let promise = "`list` gives the same in the same order until the outbounds change";
        broken.push(Broken::new(promise, "two calls differ"));
    }
    let mut tags = HashSet::new();
    for outbound in &list {
        if !tags.insert(outbound.tag.as_str()) {
            let found = format!("`{}` twice", outbound.tag);
            broken.push(Broken::new("a tag is unique", found));
        }
        if outbound.fingerprint.len() > FINGERPRINT {
            let found = format!(
                "{} bytes for `{}`",
                outbound.fingerprint.len(),
                outbound.tag
            );
            broken.push(Broken::new("a fingerprint has at most 128 bytes", found));
        }
    }
    for outbound in &list {
        for member in outbound
            .members
            .iter()
            .filter(|tag| !tags.contains(tag.as_str()))
        {
            let found = format!("`{member}` in `{}`", outbound.tag);
            broken.push(Broken::new("a group's members are listed", found));
        }
        if outbound.kind != Kind::Group && !outbound.members.is_empty() {
            let found = format!("`{}` has some", outbound.tag);
            broken.push(Broken::new("only a group has members", found));
        }
    }
    broken
}

/// `list`, `status` and `selected` never wait, and `selected` names a member.
pub fn answers_at_once<C: ProxyCore + ?Sized>(core: &C) -> Vec<Broken> {
    let mut broken = Vec::new();
    let mut timed = |what: String, begun: Instant| {
        let took = begun.elapsed();
        if took > AT_ONCE {
            let found = format!("{what} took {took:?}");
            broken.push(Broken::new(
                "`list`, `status` and `selected` return at once",
                found,
            ));
        }
    };
    let begun = Instant::now();
    let list = core.list();
    timed("`list`".to_owned(), begun);
    let mut foreign = Vec::new();
    for outbound in &list {
        let begun = Instant::now();
        let _ = core.status(&outbound.tag);
        timed(format!("`status` of `{}`", outbound.tag), begun);
        for network in [Network::Tcp, Network::Udp] {
            let begun = Instant::now();
            let selected = core.selected(&outbound.tag, network);
            timed(format!("`selected` of `{}`", outbound.tag), begun);
            if let Some(member) = selected.filter(|member| !outbound.members.contains(member)) {
                let found = format!("`{member}` for `{}`", outbound.tag);
                foreign.push(Broken::new("`selected` names a member of the group", found));
            }
        }
    }
    broken.append(&mut foreign);
    broken
}

/// A tag that is not listed is an error wherever it is given.
pub async fn strangers<C: ProxyCore + ?Sized>(core: &C) -> Vec<Broken> {
    let mut broken = Vec::new();
    let promise = "a tag that is not listed is an error and nothing else";
    let _ = core.status(STRANGER);
    if core.selected(STRANGER, Network::Tcp).is_some() {
        broken.push(Broken::new(promise, "it leads to a member"));
    }
    if core.select(STRANGER, Network::Tcp, STRANGER).is_ok() {
        broken.push(Broken::new(promise, "it was led to a member"));
    }
    let target = Target {
        host: Host::Name("stranger.invalid".to_owned()),
        port: 80,
        family: None,
    };
    let deadline = tokio::time::Instant::now() + super::PATIENCE;
    match core.dial(STRANGER, &target, deadline).await {
        Ok(_) => broken.push(Broken::new(promise, "it was dialed")),
        Err(error) if error.cause == Cause::DialTimeout => {
            broken.push(Broken::new(promise, "dialing it runs into the deadline"));
        }
        Err(_) => {}
    }
    if core.associate(STRANGER, deadline).await.is_ok() {
        broken.push(Broken::new(promise, "it carries datagrams"));
    }
    broken
}

/// `select` leads a group to a member at once, for each kind of traffic by itself; or the
/// core says that it decides.
pub fn selections<C: ProxyCore + ?Sized>(core: &C, scene: &Scene) -> Vec<Broken> {
    let Some(group) = &scene.group else {
        return Vec::new();
    };
    let mut broken = Vec::new();
    let list = core.list();
    let members = list.iter().find(|outbound| outbound.tag == *group);
    let members = members
        .map(|group| group.members.as_slice())
        .unwrap_or_default();
    let [first, .., last] = members else {
        let promise = "the described group has two members or more";
        return vec![Broken::new(promise, format!("{members:?}"))];
    };
    match core.select(group, Network::Tcp, STRANGER) {
        Err(SelectError::Fixed(_)) => return Vec::new(),
        Err(SelectError::NotAMember { .. }) => {}
        other => {
            let promise = "what is no member cannot be selected";
            broken.push(Broken::new(promise, format!("{other:?}")));
        }
    }
    let promise = "a selection holds at once, for each kind of traffic by itself";
    for member in members.iter().chain([first]) {
        let made = [(Network::Udp, last), (Network::Tcp, member)]
            .map(|(network, member)| core.select(group, network, member));
        if made.iter().any(Result::is_err) {
            broken.push(Broken::new(promise, format!("`{member}`: {made:?}")));
        }
        let (tcp, udp) = (
            core.selected(group, Network::Tcp),
            core.selected(group, Network::Udp),
        );
        if tcp.as_deref() != Some(member) || udp.as_deref() != Some(last) {
            let found = format!("{tcp:?} and {udp:?} after `{member}` and `{last}`");
            broken.push(Broken::new(promise, found));
        }
    }
    // As the scene says: it is left leading to its first.
    if core.select(group, Network::Udp, first).is_err() {
        broken.push(Broken::new(promise, format!("`{first}` is refused")));
    }
    broken
}
