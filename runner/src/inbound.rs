//! Inbounds: where connections of users come in, and how each is handed on to an
//! upstream and relayed. It must not know outbounds, groups or the monitor.
//!
//! ```no_run
//! # async fn example(config: outwatch::config::Config, core: outwatch::NativeCore)
//! # -> Result<(), outwatch::inbound::ListenError> {
//! use std::sync::Arc;
//! use outwatch::inbound::{self, OneOutbound};
//!
//! let (inbounds, problems) = inbound::read(&config.inbounds);
//! assert_eq!(problems, []);
//! let upstream = Arc::new(OneOutbound::new(core, "berlin"));
//! let mut serving = Vec::new();
//! for inbound in inbounds {
//!     serving.push(inbound.serve(upstream.clone())?);
//! }
//! for inbound in serving {
//!     inbound.stop().await;
//! }
//! # Ok(())
//! # }
//! ```

mod connections;
mod http;
pub(crate) mod listening;
mod one_outbound;
mod options;
mod refusal;
mod relay;
mod route;
mod serving;
mod session;
mod socks;
#[cfg(test)]
mod tests;
mod users;

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;

use crate::proxy_core::{Datagrams, FetchError, Io, Target};

pub use connections::{Carried, Connection, Connections};
pub use one_outbound::OneOutbound;
pub use options::{Inbound, read};
pub use route::Route;
pub use serving::{ListenError, Serving};

/// Where connections of users go.
///
/// Called once for every connection, many at a time. A plain HTTP request may travel on
/// the connection of the one before it, from the same user to the same host.
#[async_trait]
pub trait Upstream: Send + Sync + 'static {
    /// Opens a stream to `target` for a client. It must end by itself, since no client
    /// is waited for; dropping the future, as for a client that has left, must close
    /// whatever it opened.
    ///
    /// # Errors
    /// The client is told by the reply code of SOCKS or the status of HTTP that comes
    /// next to the error's cause; over HTTP also in the error's words.
    async fn connect(&self, client: &Client, target: &Target) -> Result<Box<dyn Io>, FetchError>;

    /// Opens a way for datagrams of a client: one for each SOCKS association, which
    /// sends to many targets.
    ///
    /// # Errors
    /// [`Cause::Unsupported`](crate::Cause::Unsupported) where nothing carries datagrams.
    async fn associate(&self, client: &Client) -> Result<Box<dyn Datagrams>, FetchError>;
}

/// Who opened a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The tag of the inbound that it came to.
    pub inbound: Arc<str>,
    /// Its address.
    pub source: SocketAddr,
    /// The user it has shown to be, where the inbound has users.
    pub user: Option<Arc<str>>,
}
