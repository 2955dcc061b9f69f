//! shadowsocks against servers that do not mean well; the good ones are real.

use serde_json::{Value, json};

use super::core;
use super::servers::Server;
use crate::proxy_core::{Cause, Phase, ProxyCore};
use crate::testing::get;

const METHODS: [(&str, &str); 6] = [
    ("aes-128-gcm", "secret"),
    ("aes-256-gcm", "secret"),
    ("chacha20-ietf-poly1305", "secret"),
    ("2022-blake3-aes-128-gcm", "MDEyMzQ1Njc4OWFiY2RlZg=="),
    (
        "2022-blake3-aes-256-gcm",
        "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
    ),
    (
        "2022-blake3-chacha20-poly1305",
        "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
    ),
];

fn outbound(server: &Server, (method, password): (&str, &str)) -> Value {
    json!({ "type": "shadowsocks", "server": "127.0.0.1", "server_port": server.port(),
        "method": method, "password": password })
}

#[tokio::test]
async fn t10_bytes_that_are_not_of_the_key_are_proxy_handshake() {
    let noise: Vec<u8> = (0..100_000_u32)
        .map(|at| (at.wrapping_mul(at) / 7) as u8)
        .collect();
    for answer in [
        b"HTTP/1.1 400 Bad Request\r\n".repeat(9),
        vec![0; 4096],
        noise,
    ] {
        let server = Server::answering(answer).await;
        for method in METHODS {
            let core = core(json!([outbound(&server, method)]));
            let error = core.fetch("0", &get("http://a.test/")).await.unwrap_err();
            let found = (error.phase, error.cause);
            assert_eq!(
                found,
                (Phase::Proxy, Cause::ProxyHandshake),
                "{method:?}: {error}"
            );
            assert!(error.text.contains("another key"), "{error}");
            assert!(!error.text.contains(method.1), "{error}");
        }
    }
}

#[tokio::test]
async fn t10_an_answer_that_is_cut_short_is_eof() {
    for answer in ["", "x", "only some bytes"] {
        let server = Server::answering(answer).await;
        for method in METHODS {
            let core = core(json!([outbound(&server, method)]));
            let error = core.fetch("0", &get("http://a.test/")).await.unwrap_err();
            let found = (error.phase, error.cause);
            assert_eq!(found, (Phase::Proxy, Cause::Eof), "{method:?}: {error}");
        }
    }
}
