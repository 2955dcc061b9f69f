//! Opening, stopping and dropping.

use std::sync::Arc;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::{Fake, Raw, direct, host, open, serve};
use crate::inbound::{OneOutbound, Upstream, read};
use crate::proxy_core::{Cause, Target};
use crate::testing::PATIENCE;

#[tokio::test]
async fn an_address_that_is_taken_is_an_error_that_names_inbound_and_address() {
    let fake = Arc::new(Fake::default());
    let first = open("mixed", &fake);
    let port = first.address().port();
    let (inbounds, _) = read(&[json!({ "type": "http", "tag": "second", "listen_port": port })]);
    let second = inbounds.into_iter().next().unwrap();
    let error = second.serve(fake).unwrap_err();
    let words = format!("the inbound `second` cannot listen on 127.0.0.1:{port}: ");
    assert!(error.to_string().starts_with(&words), "{error}");
}

#[tokio::test]
async fn stop_ends_listening_and_every_connection() {
    let fake = Arc::new(Fake::default());
    let inbound = open("mixed", &fake);
    let address = inbound.address();
    let mut tunnel = Raw::to(address).await;
    tunnel
        .says(
            "CONNECT echo.test:1 HTTP/1.1\r\nHost: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\n",
        )
        .await;
    let mut dialing = Raw::to(address).await;
    dialing
        .0
        .write_all(b"CONNECT silent.test:1 HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let mut greeting = Raw::to(address).await;
    greeting.says([5, 1, 0], [5, 0]).await;
    timeout(PATIENCE, inbound.stop()).await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
    for client in [&mut tunnel, &mut dialing, &mut greeting] {
        client.rest().await;
    }
    // Nobody holds the upstream any more.
    assert_eq!(Arc::strong_count(&fake), 1);
}

#[tokio::test]
async fn dropping_ends_everything_too() {
    let fake = Arc::new(Fake::default());
    let before = Handle::current().metrics().num_alive_tasks();
    let inbound = open("mixed", &fake);
    let mut client = Raw::connect(&inbound).await;
    client.says([5, 1, 0], [5, 0]).await;
    drop(inbound);
    client.rest().await;
    let gone = async {
        while Handle::current().metrics().num_alive_tasks() > before {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, gone).await.unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_while_its_way_opens_cancels_that() {
    let fake = Arc::new(Fake::default());
    let inbound = open("http", &fake);
    let before = Handle::current().metrics().num_alive_tasks();
    let mut client = Raw::connect(&inbound).await;
    client
        .0
        .write_all(b"CONNECT silent.test:1 HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let until = |count: usize| async move {
        while Handle::current().metrics().num_alive_tasks() != count {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, until(before + 1)).await.unwrap();
    while fake.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(client);
    timeout(PATIENCE, until(before)).await.unwrap();
}

#[tokio::test]
async fn every_address_is_that_of_ipv4_too() {
    let users = json!([{ "username": "ann" }]);
    let inbound = json!({ "type": "mixed", "listen": "::", "listen_port": 0, "users": users });
    let fake = Arc::new(Fake::default());
    let inbound = serve(inbound, &fake);
    let mut client = Raw::to(([127, 0, 0, 1], inbound.address().port()).into()).await;
    client
        .says(b"\x04\x01\x00\x50\xc0\x00\x02\x07ann\0", b"\0\x5a")
        .await;
    let asked = fake.asked.lock().unwrap();
    assert!(asked[0].0.source.is_ipv4(), "{asked:?}");
}

#[tokio::test]
async fn one_outbound_opens_streams_and_says_why_not() {
    let echo = open("mixed", &Arc::new(Fake::default()));
    let port = echo.address().port();
    let upstream = OneOutbound::new(direct(), "direct");
    let client = crate::inbound::Client {
        inbound: "in".into(),
        source: echo.address(),
        user: None,
    };
    let target = |name: &str, port| Target {
        host: host(name),
        port,
        family: None,
    };
    let opened = upstream.connect(&client, &target("localhost", port)).await;
    opened.unwrap().write_all(&[5]).await.unwrap();
    let refused = upstream.connect(&client, &target("localhost", 1)).await;
    assert_eq!(refused.err().unwrap().cause, Cause::Refused);
    // No label may be so long, which is known without asking a name server.
    let unknown = target(&"x".repeat(64), 1);
    let unknown = upstream.connect(&client, &unknown).await;
    assert_eq!(unknown.err().unwrap().cause, Cause::DnsFailed);
}
