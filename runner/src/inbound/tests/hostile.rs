//! Clients that mean no good.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use super::{Fake, Raw, closed, open};
use crate::inbound::session::HANDSHAKE;
use crate::testing::PATIENCE;

/// How long the other side waits until it closes.
async fn patience(client: &mut Raw) -> Duration {
    let start = Instant::now();
    let _ = client.rest_unbounded().await;
    start.elapsed()
}

impl Raw {
    /// As `rest`, for virtual time, which a bound would move.
    async fn rest_unbounded(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = self.0.read_to_end(&mut rest).await;
        rest
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_finish_its_handshake_is_cut_in_time() {
    let fake = Arc::new(Fake::default());
    let inbound = open("mixed", &fake);
    let beginnings: [&[u8]; 7] = [
        b"",
        b"\x05",
        b"\x05\x01\x00",
        b"\x05\x01\x00\x05\x01\x00\x03\xffexa",
        b"\x04\x01\x00\x50\xc0\x00\x02\x07endless",
        b"GET http://echo.test/ HT",
        b"CONNECT echo.test:80 HTTP/1.1\r\nHost: echo.test\r\n",
    ];
    for beginning in beginnings {
        let mut client = Raw::connect(&inbound).await;
        client.0.write_all(beginning).await.unwrap();
        let waited = patience(&mut client).await;
        let bounds = HANDSHAKE..HANDSHAKE + Duration::from_secs(2);
        assert!(bounds.contains(&waited), "{waited:?} for {beginning:?}");
    }
    assert_eq!(fake.asked(), [""; 0]);
}

#[tokio::test]
async fn a_head_that_never_ends_is_refused() {
    let fake = Arc::new(Fake::default());
    let inbound = open("http", &fake);
    let mut client = Raw::connect(&inbound).await;
    let line = b"X-Long: 0123456789012345678901234567890123456789\r\n";
    client
        .0
        .write_all(b"GET http://echo.test/ HTTP/1.1\r\n")
        .await
        .unwrap();
    let sent = timeout(PATIENCE, async {
        let mut sent = 0;
        // The write fails once the other side has had enough.
        while sent < 16 * 1024 * 1024 && client.0.write_all(line).await.is_ok() {
            sent += line.len();
        }
        sent
    });
    assert!(sent.await.unwrap() < 16 * 1024 * 1024);
    assert_eq!(fake.asked(), [""; 0]);
}

#[tokio::test]
async fn garbage_ends_its_connection_and_nothing_else() {
    let fake = Arc::new(Fake::default());
    let garbage: [&[u8]; 8] = [
        b"\x05\x00",
        b"\x05\x01\x00\x04\x01\x00",
        b"\x04\x01\x00\x50\x00\x00\x00\x01\0\xff\xfe\0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00\x00\x00\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT http://echo.test/ HTTP/1.1\r\n\r\n",
        b"GET http://a b/ HTTP/1.1\r\n\r\n",
    ];
    for type_name in ["mixed", "socks", "http"] {
        let inbound = open(type_name, &fake);
        for bytes in garbage {
            let mut client = Raw::connect(&inbound).await;
            client.0.write_all(bytes).await.unwrap();
            client.0.shutdown().await.unwrap();
            client.rest().await;
        }
        let mut client = Raw::connect(&inbound).await;
        let (hello, welcome): (&[u8], &[u8]) = match type_name {
            "http" => (
                b"CONNECT echo.test:80 HTTP/1.1\r\nHost: x\r\n\r\n",
                b"HTTP/1.1 200 OK\r\n",
            ),
            _ => (b"\x05\x01\x00", b"\x05\x00"),
        };
        client.says(hello, welcome).await;
    }
    let asked = fake.asked();
    assert!(
        asked.iter().all(|target| target == "echo.test:80"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_login_in_other_clothes_stays_out() {
    let fake = Arc::new(Fake::default());
    let inbound = closed("http", &fake);
    // Not base64; another scheme; no colon; base64 of `ann:`, `:secret`, `ann:secret2`.
    let logins = [
        "Basic !!!",
        "Bearer YW5uOnNlY3JldA==",
        "Basic YW5u",
        "Basic YW5uOg==",
        "Basic OnNlY3JldA==",
        "Basic YW5uOnNlY3JldDI=",
        "Basic",
        "",
    ];
    for login in logins {
        let mut client = Raw::connect(&inbound).await;
        let request = format!(
            "CONNECT echo.test:80 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: {login}\r\n\r\n"
        );
        client
            .says(request, "HTTP/1.1 407 Proxy Authentication Required\r\n")
            .await;
    }
    assert_eq!(fake.asked(), [""; 0]);
}
