//! The simplest upstream over a core: everything through one outbound or group.
//! It must not know the others.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{Client, Upstream};
use crate::proxy_core::{Datagrams, FetchError, Io, ProxyCore, Target};

/// How long a connection, or a way for datagrams, may take to open.
const DIAL_TIMEOUT: Duration = Duration::from_secs(15);

/// Sends every connection through one outbound or group of a core.
pub struct OneOutbound<C> {
    core: C,
    tag: String,
}

impl<C: ProxyCore> OneOutbound<C> {
    /// Everything goes through `tag`.
    pub fn new(core: C, tag: impl Into<String>) -> Self {
        Self {
            core,
            tag: tag.into(),
        }
    }
}

#[async_trait]
impl<C: ProxyCore> Upstream for OneOutbound<C> {
    async fn connect(&self, _: &Client, target: &Target) -> Result<Box<dyn Io>, FetchError> {
        let deadline = Instant::now() + DIAL_TIMEOUT;
        let dialed = self.core.dial(&self.tag, target, deadline).await?;
        Ok(dialed.stream)
    }

    async fn associate(&self, _: &Client) -> Result<Box<dyn Datagrams>, FetchError> {
        let deadline = Instant::now() + DIAL_TIMEOUT;
        self.core.associate(&self.tag, deadline).await
    }
}
