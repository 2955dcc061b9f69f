//! The client's side of a TLS handshake over any stream.
//! It must not know which roots are trusted, nor what is said over TLS.

use std::sync::{Arc, LazyLock};

use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls_pki_types::ServerName;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::failure::of_io;
use crate::proxy_core::{FetchError, Io, Phase};

/// The cryptography that everything here uses, whatever the process installed.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> =
        LazyLock::new(|| Arc::new(ring::default_provider()));
    Arc::clone(&PROVIDER)
}

/// Does the handshake with `peer` (for people), who must prove to be `name`.
pub(crate) async fn connect<S: Io>(
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    stream: S,
    phase: Phase,
    peer: String,
) -> Result<TlsStream<S>, FetchError> {
    TlsConnector::from(config)
        .connect(name, stream)
        .await
        .map_err(|error| of_io(phase, &peer, &error))
}
