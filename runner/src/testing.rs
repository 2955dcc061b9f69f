//! What tests of this crate share: certificates, requests, and talking HTTP by hand.
//! It must not know what is tested.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use crate::fetch::provider;
use crate::monitor::Monitor;
use crate::proxy_core::Request;
use crate::report::{Report, Scope, View};

/// A bound for what takes no time unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A plain GET of `url`.
pub(crate) fn get(url: &str) -> Request {
    Request {
        url: url.into(),
        method: "GET".into(),
        headers: Vec::new(),
        deadline: PATIENCE,
        body_limit: 1024,
        response_headers: Vec::new(),
        repeat: false,
        family: None,
    }
}

/// The same by HEAD, as URL tests ask.
pub(crate) fn head(url: &str) -> Request {
    Request {
        method: "HEAD".into(),
        body_limit: 0,
        ..get(url)
    }
}

/// The first confirmed report of a tag that is as `wanted`.
pub(crate) async fn report(
    monitor: &Monitor,
    tag: &str,
    wanted: impl Fn(&Report) -> bool,
) -> Report {
    let mut updates = monitor.subscribe(Scope::Tag(tag.to_owned()), View::Confirmed);
    let found = async {
        loop {
            let update = updates.next().await.expect("an update");
            if let Some(report) = update.reports.into_iter().find(&wanted) {
                return report;
            }
        }
    };
    timeout(PATIENCE, found).await.expect("such a report")
}

/// Reads the head of an HTTP message: all until the empty line.
pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// An authority that certifies servers.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    /// Its own certificate.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// TLS of a server called `name`.
    pub(crate) fn server(&self, name: &str) -> Arc<ServerConfig> {
        self.sign(&CertificateParams::new(vec![name.into()]).unwrap())
    }

    /// TLS of a server whose certificate has run out.
    pub(crate) fn expired_server(&self, name: &str) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new(vec![name.into()]).unwrap();
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(2002, 1, 1);
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        server(certificate.der().clone(), &key)
    }
}

/// TLS of a server that certifies itself, as `openssl req -x509` does it, and its PEM.
pub(crate) fn self_signed(name: &str) -> (Arc<ServerConfig>, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.into()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    (server(certificate.der().clone(), &key), certificate.pem())
}

fn server(
    certificate: rustls_pki_types::CertificateDer<'static>,
    key: &KeyPair,
) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(config)
}
