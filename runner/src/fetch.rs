//! One HTTP exchange over a stream dialed through an outbound.
//! It must not know which outbound that is, nor what the answer is for.

use crate::proxy_core::{FetchError, ProxyCore, Request, Response};

/// Which certificates are trusted.
#[derive(Clone, Debug)]
pub struct Trust;

impl Trust {
    /// The system's roots.
    pub fn system() -> Self {
        Self
    }
}

/// Dials, does TLS if the URL wants it, and speaks HTTP/1.1.
pub async fn through_dial<C: ProxyCore + ?Sized>(
    _core: &C,
    _tag: &str,
    _request: &Request,
    _trust: &Trust,
) -> Result<Response, FetchError> {
    std::future::pending().await
}
