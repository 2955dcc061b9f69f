//! The transports against servers made by hand: what the handshake says, and what a
//! hostile WebSocket can and cannot do.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::ServerConfig;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::server::Acceptor;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::servers::Server;
use super::{core, dial, failure, target};
use crate::proxy_core::{Cause, FetchError, Phase};
use crate::testing::{Authority, PATIENCE, read_head};

const UUID: &str = "00112233-4455-6677-8899-aabbccddeeff";

fn vless(port: u16, transport: Value) -> Value {
    let mut outbound =
        json!({ "type": "vless", "server": "127.0.0.1", "server_port": port, "uuid": UUID });
    outbound["transport"] = transport;
    outbound
}

/// Agrees to the upgrade, records its head, and sends `frames` after it.
async fn server(frames: Vec<u8>) -> Server {
    Server::recording(move |mut stream, asked| {
        let frames = frames.clone();
        async move {
            let head = read_head(&mut stream).await;
            let key = head
                .lines()
                .find_map(|line| line.strip_prefix("Sec-Websocket-Key: "));
            let accept = derive_accept_key(key.unwrap_or_default().as_bytes());
            asked.lock().unwrap().push(head);
            let agreed = format!(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\
                 Sec-WebSocket-Accept: {accept}\r\n\r\n"
            );
            stream.write_all(agreed.as_bytes()).await.unwrap();
            stream.write_all(&frames).await.ok();
            stream.shutdown().await.ok();
            while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
        }
    })
    .await
}

/// The head of a frame whose payload has `length` bytes.
fn frame(opcode: u8, length: u64) -> Vec<u8> {
    let mut head = vec![0x80 | opcode, 127];
    head.extend(length.to_be_bytes());
    head
}

fn binary(payload: &[u8]) -> Vec<u8> {
    [frame(2, payload.len() as u64), payload.to_vec()].concat()
}

/// The head that asks for the upgrade, without the key, which is random.
async fn head(transport: Value) -> String {
    let server = server(binary(b"\0\0")).await;
    let core = core(json!([vless(server.port(), transport)]));
    let mut stream = dial(&core, "0", &target("a.test:80")).await.unwrap().stream;
    stream.write_all(b"payload").await.unwrap();
    stream.flush().await.unwrap();
    let asked = server.asked().concat();
    let port = server.port().to_string();
    let lines = asked
        .lines()
        .filter(|line| !line.starts_with("Sec-Websocket-Key"));
    let lines: Vec<String> = lines.map(|line| line.replace(&port, "PORT")).collect();
    lines.join("\n")
}

/// What the outbound sends first: the request of VLESS and the payload.
fn first_bytes() -> Vec<u8> {
    let mut bytes = vec![0];
    bytes.extend(uuid::Uuid::parse_str(UUID).unwrap().as_bytes());
    bytes.extend(b"\0\x01\0\x50\x02\x06a.testpayload");
    bytes
}

#[tokio::test]
async fn the_upgrade_asks_for_the_path_and_carries_the_headers() {
    assert_eq!(
        head(json!({ "type": "ws", "path": "a b/?x=1", "headers": { "X-One": "1", "Host": "front.test" } }))
            .await,
        "GET /a%20b/?x=1 HTTP/1.1\nHost: front.test\nUser-Agent: Go-http-client/1.1\nX-One: 1\n\
         Sec-Websocket-Version: 13\nConnection: Upgrade\nUpgrade: websocket\n"
    );
    assert_eq!(
        head(json!({ "type": "httpupgrade", "headers": { "User-Agent": "me", "Host": "old.test" }, "host": "front.test" }))
            .await,
        "GET / HTTP/1.1\nHost: front.test\nUser-Agent: me\nConnection: Upgrade\n\
         Upgrade: websocket\n"
    );
    let bare = head(json!({ "type": "ws" })).await;
    assert!(bare.contains("\nHost: 127.0.0.1:PORT\n"), "{bare}");
}

#[tokio::test]
async fn early_data_goes_into_the_header_or_the_path() {
    let first = first_bytes();
    let all = URL_SAFE_NO_PAD.encode(&first);
    let some = URL_SAFE_NO_PAD.encode(&first[..33]);
    let in_header = head(json!({ "type": "ws", "path": "/p", "max_early_data": 3348,
        "early_data_header_name": "Sec-WebSocket-Protocol" }))
    .await;
    let line = format!("\nSec-Websocket-Protocol: {all}\n");
    assert!(in_header.starts_with("GET /p HTTP/1.1\n"), "{in_header}");
    assert!(in_header.contains(&line), "{in_header}");
    let in_path = head(json!({ "type": "ws", "path": "/p", "max_early_data": 33 })).await;
    let line = format!("GET /p{some} HTTP/1.1\n");
    assert!(in_path.starts_with(&line), "{in_path}");
    // The request itself is never cut: it waits for the handshake.
    let none = head(json!({ "type": "ws", "path": "/p", "max_early_data": 20 })).await;
    assert!(none.starts_with("GET /p HTTP/1.1\n"), "{none}");
    let before_query = head(json!({ "type": "ws", "path": "/p?q", "max_early_data": 33 })).await;
    let line = format!("GET /p{some}?q HTTP/1.1\n");
    assert!(before_query.starts_with(&line), "{before_query}");
}

/// All that comes through a WebSocket on which the server sends these frames.
async fn read(frames: Vec<u8>) -> Result<Vec<u8>, FetchError> {
    let server = server(frames).await;
    let core = core(json!([vless(server.port(), json!({ "type": "ws" }))]));
    let mut stream = dial(&core, "0", &target("a.test:80")).await.unwrap().stream;
    stream.write_all(b"!").await.unwrap();
    let mut read = Vec::new();
    let end = timeout(PATIENCE, stream.read_to_end(&mut read)).await;
    match end.unwrap() {
        Ok(_) => Ok(read),
        Err(error) => Err(error.downcast::<FetchError>().unwrap()),
    }
}

#[tokio::test]
async fn binary_messages_are_the_stream_and_other_frames_are_not() {
    let frames = [
        binary(b"\0"),
        [frame(9, 4), b"ping".to_vec()].concat(),
        [frame(1, 4), b"text".to_vec()].concat(),
        binary(b""),
        binary(b"\0hel"),
        binary(b"lo"),
        frame(8, 0),
        binary(b"after the end"),
    ];
    assert_eq!(read(frames.concat()).await.unwrap(), b"hello");
}

#[tokio::test]
async fn t10_a_hostile_websocket_is_an_error_in_words() {
    for (frames, cause) in [
        (Vec::new(), Cause::Eof),
        (frame(8, 0), Cause::Eof),
        (b"\x82".to_vec(), Cause::Eof),
        // A frame that never ends, one with a reserved opcode, one that is masked.
        (frame(2, u64::MAX), Cause::ProxyHandshake),
        (frame(2, 2 * 1024 * 1024), Cause::ProxyHandshake),
        (frame(5, 1), Cause::ProxyHandshake),
        (b"\x82\x81\0\0\0\0x".to_vec(), Cause::ProxyHandshake),
        (b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), Cause::ProxyHandshake),
    ] {
        let error = read(frames.clone()).await.unwrap_err();
        assert_eq!(
            (error.phase, error.cause),
            (Phase::Proxy, cause),
            "{frames:?}: {error}"
        );
        assert!(error.text.contains("VLESS server"), "{error}");
    }
}

#[tokio::test]
async fn t10_a_hostile_upgrade_is_proxy_handshake() {
    let long = format!("HTTP/1.1 101 X\r\nX: {}\r\n\r\n", "x".repeat(1_000_000));
    for (answer, says) in [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "403"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200"),
        (
            "HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
            "something else",
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n", "HTTP"),
        (&*long, "too large"),
    ] {
        let server = Server::answering(answer).await;
        for transport in ["ws", "httpupgrade"] {
            let core = core(json!([vless(server.port(), json!({ "type": transport }))]));
            let failure = failure(&core, "0", &target("a.test:80"), says).await;
            assert_eq!(failure, (Phase::Proxy, Cause::ProxyHandshake), "{says}");
        }
    }
    let agreed = "HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Accept: c29tZW9uZSBlbHNlJ3Mga2V5\r\n\r\n";
    let server = Server::answering(agreed).await;
    let core = core(json!([vless(server.port(), json!({ "type": "ws" }))]));
    let failure = failure(&core, "0", &target("a.test:80"), "accept key").await;
    assert_eq!(failure, (Phase::Proxy, Cause::ProxyHandshake));
}

/// The protocols that an outbound with these fields offers in TLS.
async fn offered(fields: Value) -> Vec<String> {
    let config: Arc<ServerConfig> = Authority::new("known").server("127.0.0.1");
    let server = Server::recording(move |stream, asked| {
        let config = Arc::clone(&config);
        async move {
            let start = LazyConfigAcceptor::new(Acceptor::default(), stream)
                .await
                .unwrap();
            let offered = start.client_hello().alpn().into_iter().flatten();
            let offered = offered.map(|name| String::from_utf8(name.to_vec()).unwrap());
            asked.lock().unwrap().extend(offered);
            start.into_stream(config).await.ok();
        }
    })
    .await;
    let mut outbound = vless(server.port(), json!({}));
    outbound
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    let core = core(json!([outbound]));
    dial(&core, "0", &target("a.test:80")).await.ok();
    server.asked()
}

#[tokio::test]
async fn tls_below_a_transport_offers_http_1_1_unless_the_config_offers_something() {
    let tls = |alpn: Value| json!({ "enabled": true, "insecure": true, "alpn": alpn });
    for transport in ["ws", "httpupgrade"] {
        let transport = json!({ "type": transport });
        let given =
            offered(json!({ "tls": tls(json!(["h2", "http/1.1"])), "transport": transport }));
        assert_eq!(given.await, ["h2", "http/1.1"]);
        let none = offered(json!({ "tls": tls(json!([])), "transport": transport }));
        assert_eq!(none.await, ["http/1.1"]);
    }
    assert_eq!(offered(json!({ "tls": tls(json!([])) })).await, [""; 0]);
}
