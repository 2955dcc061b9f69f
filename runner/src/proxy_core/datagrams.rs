//! Datagrams through an outbound. It must not know who sends them, nor how an outbound
//! carries them.

use async_trait::async_trait;

use super::{Cause, FetchError, Phase, Target};

/// A way for datagrams to many targets. Dropping it closes the way, and whatever was
/// opened for it.
#[async_trait]
pub trait Datagrams: Send + Sync + 'static {
    /// Sends one datagram. A name in `target` is resolved as far away as the outbound
    /// allows.
    ///
    /// # Errors
    /// This one is lost; others may still be sent.
    async fn send(&self, payload: &[u8], target: &Target) -> Result<(), FetchError>;

    /// Waits for a datagram; gives its payload and who sent it. Dropping the future loses
    /// no datagram.
    ///
    /// # Errors
    /// The way is closed: no datagram comes any more.
    async fn receive(&self) -> Result<(Vec<u8>, Target), FetchError>;
}

/// Why a datagram is not sent on a way whose protocol tells the target but once.
pub(crate) fn another_target() -> FetchError {
    let text = "without `packet_encoding` a way for datagrams leads to one target alone";
    FetchError::new(Phase::Proxy, Cause::Unsupported, text)
}
