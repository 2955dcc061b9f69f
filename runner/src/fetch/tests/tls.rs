//! TLS with the URL's host: whom it trusts, and how its failures are told apart.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;

use super::Peer;
use crate::proxy_core::{Cause, Phase};
use crate::testing::{Authority, get, read_head, self_signed};

/// A server that answers 204 over TLS.
fn answering(config: Arc<ServerConfig>) -> Peer {
    Peer::new(move |stream| {
        let acceptor = TlsAcceptor::from(Arc::clone(&config));
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            read_head(&mut stream).await;
            stream
                .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
                .await
                .ok();
            stream.shutdown().await.ok();
        }
    })
}

#[tokio::test]
async fn a_server_certified_by_a_trusted_authority_is_talked_to() {
    let authority = Authority::new("known");
    for (name, url) in [
        ("example.test", "https://example.test/"),
        ("example.test", "https://example.test:444/"),
        ("127.0.0.1", "https://127.0.0.1/"),
        ("::1", "https://[::1]/"),
    ] {
        let peer = answering(authority.server(name)).trusting(authority.pem());
        let response = peer.fetch(&get(url)).await.unwrap();
        assert_eq!(response.status, 204);
        let timing = response.timing;
        assert!(timing.dial + timing.tls.unwrap() <= timing.first_byte);
    }
}

#[tokio::test]
async fn t10_a_certificate_that_is_not_to_be_trusted_is_tls_cert_and_says_why() {
    let authority = Authority::new("known");
    let stranger = Authority::new("stranger");
    for (config, why) in [
        (authority.expired_server("a.test"), "has expired"),
        (authority.server("b.test"), "is for another name"),
        (stranger.server("a.test"), "comes from an unknown issuer"),
        (self_signed("a.test").0, "certificate of a.test"),
    ] {
        let peer = answering(config).trusting(authority.pem());
        let error = peer.fetch(&get("https://a.test/")).await.unwrap_err();
        assert_eq!(
            (error.phase, error.cause),
            (Phase::Tls, Cause::TlsCertificate),
            "{error}"
        );
        assert!(
            error.text.contains(why) && error.text.contains("a.test"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_self_signed_certificate_given_by_hand_holds_for_its_own_name_only() {
    let (config, pem) = self_signed("a.test");
    let peer = answering(config).trusting(&pem);
    assert_eq!(
        peer.fetch(&get("https://a.test/")).await.unwrap().status,
        204
    );
    let failure = peer.failure(&get("https://b.test/")).await;
    assert_eq!(failure, (Phase::Tls, Cause::TlsCertificate));
}

#[tokio::test]
async fn t10_an_alert_is_tls_fail() {
    let authority = Authority::new("known");
    let mut config = ServerConfig::clone(&authority.server("a.test"));
    config.alpn_protocols = vec![b"h2".to_vec()];
    let peer = answering(Arc::new(config)).trusting(authority.pem());
    let error = peer.fetch(&get("https://a.test/")).await.unwrap_err();
    assert_eq!((error.phase, error.cause), (Phase::Tls, Cause::TlsFailed));
    assert!(error.text.contains("NoApplicationProtocol"), "{error}");
}

#[tokio::test]
async fn t10_a_server_without_tls_is_tls_fail() {
    let peer = Peer::new(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .ok();
        sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(
        peer.failure(&get("https://a.test/")).await,
        (Phase::Tls, Cause::TlsFailed)
    );
}

#[tokio::test]
async fn t10_a_server_that_leaves_during_the_handshake_is_eof() {
    let peer = Peer::new(|mut stream| async move {
        stream.read_u8().await.ok();
    });
    assert_eq!(
        peer.failure(&get("https://a.test/")).await,
        (Phase::Tls, Cause::Eof)
    );
}

#[tokio::test(start_paused = true)]
async fn t2_the_deadline_ends_a_handshake_that_hangs() {
    let held = Arc::new(Mutex::new(Vec::new()));
    let peer = Peer::new(move |stream| {
        held.lock().unwrap().push(stream);
        async {}
    });
    let start = Instant::now();
    let request = get("https://a.test/");
    assert_eq!(peer.failure(&request).await, (Phase::Tls, Cause::Timeout));
    assert_eq!(start.elapsed(), request.deadline);
}

#[tokio::test]
async fn the_second_round_trip_works_over_tls_too() {
    let authority = Authority::new("known");
    let config = authority.server("a.test");
    let peer = Peer::new(move |stream| {
        let acceptor = TlsAcceptor::from(Arc::clone(&config));
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            for _ in 0..2 {
                read_head(&mut stream).await;
                stream
                    .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
                    .await
                    .unwrap();
            }
        }
    });
    let request = crate::Request {
        repeat: true,
        ..get("https://a.test/")
    };
    let response = peer
        .trusting(authority.pem())
        .fetch(&request)
        .await
        .unwrap();
    assert!(response.timing.repeat.unwrap() > Duration::ZERO);
}
