//! What is in force now, and can be replaced while it is used: the core, and where the
//! inbounds send connections. It must not know why it is replaced.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use outwatch::inbound::{Client, Upstream};
use outwatch::{
    Datagrams, Dialed, FetchError, Io, Network, Outbound, ProxyCore, Readiness, Request, Response,
    SelectError, Target,
};
use tokio::time::Instant;

/// The one of its kind that is in force. What was begun with one is ended with it.
pub(crate) struct Current<T: ?Sized>(RwLock<Arc<T>>);

impl<T: ?Sized> Current<T> {
    pub(crate) fn new(first: Arc<T>) -> Self {
        Self(RwLock::new(first))
    }

    pub(crate) fn get(&self) -> Arc<T> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set(&self, next: Arc<T>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = next;
    }
}

#[async_trait]
impl ProxyCore for Current<dyn ProxyCore> {
    fn list(&self) -> Vec<Outbound> {
        self.get().list()
    }

    fn selected(&self, group: &str, network: Network) -> Option<String> {
        self.get().selected(group, network)
    }

    fn select(&self, group: &str, network: Network, member: &str) -> Result<(), SelectError> {
        self.get().select(group, network, member)
    }

    fn status(&self, tag: &str) -> Readiness {
        self.get().status(tag)
    }

    async fn dial(
        &self,
        tag: &str,
        target: &Target,
        deadline: Instant,
    ) -> Result<Dialed, FetchError> {
        self.get().dial(tag, target, deadline).await
    }

    async fn associate(
        &self,
        tag: &str,
        deadline: Instant,
    ) -> Result<Box<dyn Datagrams>, FetchError> {
        self.get().associate(tag, deadline).await
    }

    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        self.get().fetch(tag, request).await
    }
}

#[async_trait]
impl Upstream for Current<dyn Upstream> {
    async fn connect(&self, client: &Client, target: &Target) -> Result<Box<dyn Io>, FetchError> {
        self.get().connect(client, target).await
    }

    async fn associate(&self, client: &Client) -> Result<Box<dyn Datagrams>, FetchError> {
        self.get().associate(client).await
    }
}
