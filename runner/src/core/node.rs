//! One entry of the config, read: what it is, and how it reaches its server.
//! It must not know the other entries, except by their places.

use std::collections::HashSet;
use std::sync::Arc;

use super::dialer::{DialFields, Dialer};
use super::group::Group;
use super::options::{Reader, take};
use super::outbound::{self, Protocol};
use super::tags::Tags;
use super::tls::TlsConfigs;
use crate::config::Entry;
use crate::fetch::Trust;
use crate::proxy_core::{Kind, Outbound};
use crate::report::Problem;

/// One entry of the config.
pub(super) struct Node {
    pub(super) listed: Outbound,
    pub(super) role: Role,
}

/// What it does when a stream is wanted.
pub(super) enum Role {
    Outbound {
        protocol: Box<dyn Protocol>,
        route: Route,
    },
    Group(Group),
    /// D-6: why not, and what would make it work.
    Unsupported(String),
}

/// How an outbound reaches its server.
pub(super) enum Route {
    Sockets(Arc<Dialer>),
    Detour(usize),
    /// D-5: a detour that names nothing.
    Nowhere(String),
}

/// What the entries of one config have in common while they are read.
pub(super) struct Common<'a> {
    entries: &'a [Entry],
    tags: &'a Tags,
    configs: TlsConfigs,
    /// Thousands of outbounds dial alike.
    dialers: HashSet<Arc<Dialer>>,
}

impl<'a> Common<'a> {
    pub(super) fn new(entries: &'a [Entry], tags: &'a Tags, trust: Trust) -> Self {
        Self {
            entries,
            tags,
            configs: TlsConfigs::new(trust),
            dialers: HashSet::new(),
        }
    }

    /// Where the entry of a tag stands among all.
    pub(super) fn place(&self, tag: &str) -> Option<usize> {
        self.tags.find(tag, |place| &self.entries[place].tag)
    }

    /// One for all that dial alike.
    fn shared(&mut self, dialer: Dialer) -> Arc<Dialer> {
        if let Some(like) = self.dialers.get(&dialer) {
            return Arc::clone(like);
        }
        let dialer = Arc::new(dialer);
        self.dialers.insert(Arc::clone(&dialer));
        dialer
    }
}

impl Node {
    /// Reads an entry; what is wrong with it is told in `problems`.
    pub(super) fn read(
        entry: &Entry,
        common: &mut Common<'_>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut listed = Outbound {
            kind: entry.kind,
            detour: entry.detour.clone(),
            members: entry.members.clone(),
            fingerprint: entry.fingerprint.clone(),
            ..Outbound::new(entry.tag.clone(), entry.type_name.clone())
        };
        if entry.kind == Kind::Group {
            let role = Role::Group(Group::read(entry, common));
            return Self { listed, role };
        }
        let mut reader = Reader::new(&entry.path, problems);
        let role = Role::read(entry, common, &mut reader, &mut listed);
        let role = match (reader.into_refusal(), role) {
            (None, Some(role)) => role,
            (refusal, _) => Role::Unsupported(refusal.unwrap_or_default()),
        };
        Self { listed, role }
    }
}

impl Role {
    /// None if the options are wrong or beyond this core, which `reader` has been told.
    fn read(
        entry: &Entry,
        common: &mut Common<'_>,
        reader: &mut Reader<'_>,
        listed: &mut Outbound,
    ) -> Option<Self> {
        let mut options = entry.options.clone();
        take(&mut options, &["type", "tag", "detour"]);
        take(&mut options, DialFields::HARMLESS);
        let dial = take(&mut options, DialFields::NAMES);
        let protocol = outbound::read(&entry.type_name, options, reader, &mut common.configs)?;
        listed.exit_follows_host = entry.detour.is_none() && protocol.exit_follows_host();
        let route = match &entry.detour {
            // As in sing-box, a detour makes the dial fields mean nothing.
            Some(tag) => common
                .place(tag)
                .map_or_else(|| Route::Nowhere(tag.clone()), Route::Detour),
            None => {
                let fields = reader.read(dial)?;
                Route::Sockets(common.shared(Dialer::new(fields, reader)))
            }
        };
        Some(Self::Outbound { protocol, route })
    }
}
