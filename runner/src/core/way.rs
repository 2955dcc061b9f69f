//! The way of one dial: from outbound to detour to our own sockets.
//! It must not know any protocol.

use std::net::IpAddr;

use futures::future::BoxFuture;

use super::outbound::{Protocol, no_datagrams};
use super::progress::Progress;
use super::proxy::Proxy;
use super::resolve::{is_of, resolve};
use super::{NativeCore, Node, Role, Route};
use crate::link::Link;
use crate::proxy_core::{Cause, Datagrams, Family, FetchError, Host, Io, Network, Phase, Target};

/// An open byte stream.
pub(super) type Stream = Box<dyn Io>;

/// What a protocol may ask for while it dials.
pub(super) struct Way<'a> {
    core: &'a NativeCore,
    node: &'a Node,
    route: &'a Route,
    /// The outbounds that this dial already goes through.
    visited: Vec<usize>,
    /// Where the dial is.
    pub(super) progress: &'a mut Progress,
}

impl<'a> Way<'a> {
    /// Opens a stream to `target` through the outbound or group `index`.
    pub(super) async fn open(
        core: &'a NativeCore,
        index: usize,
        target: &Target,
        progress: &'a mut Progress,
    ) -> Result<Stream, FetchError> {
        open(core, index, target, Vec::new(), progress).await
    }

    /// Opens a way for datagrams through the outbound or group `index`.
    pub(super) async fn associate(
        core: &'a NativeCore,
        index: usize,
        progress: &'a mut Progress,
    ) -> Result<Box<dyn Datagrams>, FetchError> {
        associate(core, index, Vec::new(), progress).await
    }

    /// The outbound's tag.
    pub(super) fn tag(&self) -> &str {
        &self.node.listed.tag
    }

    /// Its server, of which there is something to say.
    pub(super) fn proxy(&self, kind: &'static str, server: &Target) -> Proxy {
        Proxy {
            kind,
            server: server.clone(),
            tag: self.tag().to_owned(),
        }
    }

    /// A stream to the outbound's own server: through its detour, which then resolves
    /// the server's name, or by our own sockets.
    pub(super) async fn connect(&mut self, server: &Target) -> Result<Stream, FetchError> {
        match self.route {
            Route::Sockets(dialer) => {
                let resolver = self.core.resolver.as_ref();
                Ok(Box::new(
                    dialer.connect(resolver, server, self.progress).await?,
                ))
            }
            Route::Detour(detour) => {
                open(
                    self.core,
                    *detour,
                    server,
                    self.visited.clone(),
                    self.progress,
                )
                .await
            }
            Route::Nowhere(tag) => Err(self.nowhere(tag)),
        }
    }

    /// A way for datagrams to anybody: through the outbound's detour, or by our own sockets.
    pub(super) async fn datagrams(&mut self) -> Result<Box<dyn Datagrams>, FetchError> {
        match self.route {
            Route::Sockets(dialer) => Ok(Box::new(dialer.sockets(self.core.resolver.clone())?)),
            Route::Detour(detour) => {
                associate(self.core, *detour, self.visited.clone(), self.progress).await
            }
            Route::Nowhere(tag) => Err(self.nowhere(tag)),
        }
    }

    /// A link to the outbound's own server: through its detour, which then resolves the
    /// server's name, or by a socket of our own.
    pub(super) async fn link(&mut self, server: &Target) -> Result<Link, FetchError> {
        if let Route::Sockets(dialer) = self.route {
            let resolver = self.core.resolver.as_ref();
            return dialer.link(resolver, server, self.progress).await;
        }
        Ok(Link::through(self.datagrams().await?, server.clone()))
    }

    fn nowhere(&self, detour: &str) -> FetchError {
        let tag = self.tag();
        unsupported(format!("the detour `{detour}` of `{tag}` does not exist"))
    }

    /// What a proxy is asked for: the name itself, unless one family is wanted. Then
    /// the name is resolved here, since no proxy protocol can say so.
    pub(super) async fn remote(&mut self, target: &Target) -> Result<Target, FetchError> {
        match (&target.host, target.family) {
            (Host::Name(_), None) => Ok(target.clone()),
            (Host::Name(name), Some(family)) => {
                let ip = self.resolve(name, family).await?;
                Ok(Target {
                    host: Host::Ip(ip),
                    ..target.clone()
                })
            }
            (Host::Ip(ip), family) if is_of(*ip, family) => Ok(target.clone()),
            (Host::Ip(ip), _) => {
                let text = format!("{ip} is not of the address family asked for");
                Err(FetchError::new(Phase::Dial, Cause::NoRoute, text))
            }
        }
    }

    /// The best address of `name` in `family`, by our own resolver.
    pub(super) async fn resolve(
        &mut self,
        name: &str,
        family: Family,
    ) -> Result<IpAddr, FetchError> {
        let resolver = self.core.resolver.as_ref();
        let found = resolve(resolver, name, Some(family), self.progress).await?;
        found.into_iter().next().ok_or_else(|| {
            let text = format!("`{name}` has no address of the family asked for");
            FetchError::new(Phase::Dial, Cause::DnsFailed, text)
        })
    }
}

/// Boxed, since a detour leads here again.
fn open<'a>(
    core: &'a NativeCore,
    index: usize,
    target: &'a Target,
    visited: Vec<usize>,
    progress: &'a mut Progress,
) -> BoxFuture<'a, Result<Stream, FetchError>> {
    Box::pin(async move {
        let (mut way, protocol) = enter(core, index, Network::Tcp, visited, progress)?;
        protocol.dial(&mut way, target).await
    })
}

/// Boxed like [`open`].
fn associate<'a>(
    core: &'a NativeCore,
    index: usize,
    visited: Vec<usize>,
    progress: &'a mut Progress,
) -> BoxFuture<'a, Result<Box<dyn Datagrams>, FetchError>> {
    Box::pin(async move {
        let (mut way, protocol) = enter(core, index, Network::Udp, visited, progress)?;
        if !way.node.listed.networks.contains(&Network::Udp) {
            return Err(no_datagrams(way.tag()));
        }
        protocol.associate(&mut way).await
    })
}

/// The way of the outbound that `index` leads to, and what goes over it.
fn enter<'a>(
    core: &'a NativeCore,
    index: usize,
    network: Network,
    mut visited: Vec<usize>,
    progress: &'a mut Progress,
) -> Result<(Way<'a>, &'a dyn Protocol), FetchError> {
    let Some((index, node)) = core.leaf(index, network) else {
        return Err(unsupported("the group leads to no outbound".into()));
    };
    let tag = &node.listed.tag;
    if visited.contains(&index) {
        return Err(unsupported(format!(
            "the detour of `{tag}` leads back to itself"
        )));
    }
    visited.push(index);
    match &node.role {
        Role::Outbound { protocol, route } => {
            let way = Way {
                core,
                node,
                route,
                visited,
                progress,
            };
            Ok((way, protocol.as_ref()))
        }
        Role::Unsupported(why) => Err(unsupported(format!("`{tag}` cannot be dialed: {why}"))),
        Role::Group(_) => Err(unsupported(format!("the group `{tag}` leads nowhere"))),
    }
}

fn unsupported(text: String) -> FetchError {
    FetchError::new(Phase::Dial, Cause::Unsupported, text)
}
