//! Puts a world together before its story starts. It must not step the monitor.

use std::collections::BTreeMap;
use std::time::Duration;

use outwatch_engine::{Kind, Options, Outbound, Selection};

use super::{Reply, World};

impl World {
    pub(crate) fn options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.setup.options);
        self
    }

    pub(crate) fn outbound(mut self, tag: &str, replies: impl Into<Vec<Reply>>) -> Self {
        self.setup.outbounds.push(outbound(tag));
        self.replies(tag, replies);
        self
    }

    pub(crate) fn detoured(
        mut self,
        tag: &str,
        detour: &str,
        replies: impl Into<Vec<Reply>>,
    ) -> Self {
        self.setup.outbounds.push(Outbound {
            detour: Some(detour.into()),
            ..outbound(tag)
        });
        self.replies(tag, replies);
        self
    }

    pub(crate) fn group(mut self, tag: &str, members: &[&str], selected: Option<&str>) -> Self {
        self.setup.outbounds.push(group(tag, members));
        if selected.is_some() {
            self.setup.selections.push(selection(tag, selected));
        }
        self
    }

    pub(crate) fn entry(mut self, outbound: Outbound) -> Self {
        self.setup.outbounds.push(outbound);
        self
    }

    /// Saved pairs of an earlier world.
    pub(crate) fn saved(mut self, pairs: &BTreeMap<String, Vec<u8>>) -> Self {
        self.pairs.clone_from(pairs);
        self
    }

    /// Replies to every URL test and lookup through an outbound from now on.
    pub(crate) fn replies(&mut self, tag: &str, replies: impl Into<Vec<Reply>>) {
        self.replies.insert(tag.into(), replies.into());
    }

    /// Replies to URLs that hold a text.
    pub(crate) fn replies_for(&mut self, tag: &str, url: &str, replies: impl Into<Vec<Reply>>) {
        self.by_url.insert((tag.into(), url.into()), replies.into());
    }

    pub(crate) fn url_reply(
        mut self,
        tag: &str,
        url: &str,
        replies: impl Into<Vec<Reply>>,
    ) -> Self {
        self.replies_for(tag, url, replies);
        self
    }
}

pub(crate) fn outbound(tag: &str) -> Outbound {
    Outbound {
        tag: tag.into(),
        type_name: "socks".into(),
        kind: Kind::Outbound,
        detour: None,
        members: Vec::new(),
        fingerprint: format!("{tag}.example:1080"),
        exit_follows_host: false,
    }
}

pub(crate) fn group(tag: &str, members: &[&str]) -> Outbound {
    let members = members.iter().map(|&member| member.into()).collect();
    Outbound {
        type_name: "selector".into(),
        kind: Kind::Group,
        members,
        ..outbound(tag)
    }
}

pub(crate) fn selection(group: &str, member: Option<&str>) -> Selection {
    Selection {
        group: group.into(),
        tcp: member.map(Into::into),
        udp: member.map(Into::into),
    }
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
