//! trojan and VLESS by hand: what they send, to the byte, and what answers they bear.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::servers::Server;
use super::{core, dial, target};
use crate::proxy_core::{Cause, FetchError, Phase, ProxyCore};
use crate::testing::{PATIENCE, get};

const UUID: &str = "00112233-4455-6677-8899-aabbccddeeff";

/// Records what it is told first, in hexadecimal digits, and sends `answer` in two parts.
async fn server(answer: &'static [u8]) -> Server {
    Server::recording(move |mut stream, asked| async move {
        let mut first = [0; 4096];
        let length = stream.read(&mut first).await.unwrap();
        let hex = first[..length].iter().map(|byte| format!("{byte:02x}"));
        asked.lock().unwrap().push(hex.collect());
        let (one, two) = answer.split_at(answer.len().min(1));
        stream.write_all(one).await.unwrap();
        tokio::task::yield_now().await;
        stream.write_all(two).await.unwrap();
        stream.shutdown().await.unwrap();
        while stream.read(&mut first).await.is_ok_and(|read| read > 0) {}
    })
    .await
}

fn vless(server: &Server) -> Value {
    json!({ "type": "vless", "server": "127.0.0.1", "server_port": server.port(), "uuid": UUID })
}

fn trojan(server: &Server) -> Value {
    json!({ "type": "trojan", "server": "127.0.0.1", "server_port": server.port(),
        "password": "password" })
}

/// What `outbound` sends to reach each target with the payload `!`.
async fn sent(outbound: impl Fn(&Server) -> Value, targets: &[&str]) -> Vec<String> {
    let server = server(b"\0\0").await;
    let core = core(json!([outbound(&server)]));
    for to in targets {
        let mut stream = dial(&core, "0", &target(to)).await.unwrap().stream;
        stream.write_all(b"!").await.unwrap();
        stream.flush().await.unwrap();
        // It has been recorded once an answer or an end comes.
        stream.read_u8().await.ok();
    }
    server.asked()
}

const TARGETS: [&str; 3] = ["192.0.2.1:443", "a.test:80", "[2001:db8::1]:80"];

#[tokio::test]
async fn vless_tells_user_and_target_along_with_the_first_payload() {
    let user = "00".to_owned() + &UUID.replace('-', "") + "0001";
    assert_eq!(
        sent(vless, &TARGETS).await,
        [
            format!("{user}01bb01c000020121"),
            format!("{user}00500206612e7465737421"),
            format!("{user}00500320010db800000000000000000000000121"),
        ]
    );
}

#[tokio::test]
async fn trojan_tells_password_and_target_along_with_the_first_payload() {
    // printf %s password | sha224sum, itself in ASCII.
    let digest = "d63dc919e201d7bc4c825630d2cf25fdc93d4b2f0d46706d29038d01";
    let key: String = digest.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        sent(trojan, &TARGETS).await,
        [
            format!("{key}0d0a0101c000020101bb0d0a21"),
            format!("{key}0d0a010306612e7465737400500d0a21"),
            format!("{key}0d0a010420010db800000000000000000000000100500d0a21"),
        ]
    );
}

/// All that a VLESS stream reads from a server that answers so.
async fn read(answer: &'static [u8]) -> Result<Vec<u8>, FetchError> {
    let server = server(answer).await;
    let core = core(json!([vless(&server)]));
    let mut stream = dial(&core, "0", &target("a.test:80")).await.unwrap().stream;
    stream.write_all(b"!").await.unwrap();
    let mut read = Vec::new();
    let end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read));
    match end.await.unwrap() {
        Ok(_) => Ok(read),
        Err(error) => Err(error.downcast::<FetchError>().unwrap()),
    }
}

#[tokio::test]
async fn the_head_of_a_vless_answer_is_no_part_of_the_stream() {
    assert_eq!(read(b"\0\0hello").await.unwrap(), b"hello");
    assert_eq!(read(b"\0\x03abchello").await.unwrap(), b"hello");
    const LONGEST: &[u8] = &{
        let mut answer = [b'x'; 259];
        answer[0] = 0;
        answer[1] = 255;
        answer
    };
    assert_eq!(read(LONGEST).await.unwrap(), b"xx");
}

#[tokio::test]
async fn t10_a_hostile_vless_answer_is_an_error_in_words() {
    let cases: [(&[u8], Cause, &str); 5] = [
        (b"", Cause::Eof, "another uuid"),
        (b"\0", Cause::Eof, "another uuid"),
        (b"\0\xff", Cause::Eof, "another uuid"),
        (b"\x01\0hello", Cause::ProxyHandshake, "version"),
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            Cause::ProxyHandshake,
            "VLESS",
        ),
    ];
    for (answer, cause, says) in cases {
        let error = read(answer).await.unwrap_err();
        assert_eq!((error.phase, error.cause), (Phase::Proxy, cause), "{error}");
        assert!(error.text.contains(says), "{error}");
    }
}

#[tokio::test]
async fn t10_a_fetch_names_the_server_that_gave_no_answer_and_no_secret() {
    let server = server(b"").await;
    let core = core(json!([vless(&server), trojan(&server)]));
    for (tag, secret) in [("0", UUID), ("1", "d63dc919")] {
        let error = core.fetch(tag, &get("http://a.test/")).await.unwrap_err();
        assert_eq!((error.phase, error.cause), (Phase::Proxy, Cause::Eof));
        let server = format!("127.0.0.1:{} of `{tag}`", server.port());
        assert!(error.text.contains(&server), "{error}");
        assert!(!error.text.contains(secret), "{error}");
    }
}

#[tokio::test]
async fn a_name_too_long_for_the_protocol_is_refused_before_it_is_sent() {
    let server = server(b"").await;
    let core = core(json!([vless(&server), trojan(&server)]));
    let long = target(&format!("{}:80", "a.".repeat(150)));
    for tag in ["0", "1"] {
        let error = dial(&core, tag, &long).await.unwrap_err();
        assert_eq!(error.cause, Cause::Unsupported, "{error}");
    }
    assert_eq!(server.asked(), Vec::<String>::new());
}
