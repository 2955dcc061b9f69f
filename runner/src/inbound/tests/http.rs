//! CONNECT, and plain requests with an absolute address.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::{Fake, Raw, closed, open, serve};
use crate::testing::read_head;

/// The base64 of `ann:secret`.
const ANN: &str = "Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n";

/// A web server that answers with what it was asked, head and body.
fn mirror(stream: DuplexStream) {
    let service = service_fn(|request: Request<Incoming>| async move {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let mut headers: Vec<String> = head
            .headers
            .iter()
            .map(|(name, value)| format!("{name}={}", value.to_str().unwrap()))
            .collect();
        headers.sort_unstable();
        let text = format!(
            "{} {} {} [{}]",
            head.method,
            head.uri,
            headers.join(" "),
            String::from_utf8_lossy(&body)
        );
        let response = Response::builder()
            .header("connection", "keep-alive, X-Hop")
            .header("x-hop", "1")
            .header("x-end", "2");
        Ok::<_, Infallible>(response.body(Full::<Bytes>::from(text)).unwrap())
    });
    tokio::spawn(
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
    );
}

/// A web server that promises to keep the connection and closes it after each answer.
fn forgetful(mut stream: DuplexStream) {
    tokio::spawn(async move {
        read_head(&mut stream).await;
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        stream.write_all(answer).await.unwrap();
    });
}

/// A web server that hangs up on whoever asks.
fn rude(mut stream: DuplexStream) {
    tokio::spawn(async move {
        read_head(&mut stream).await;
    });
}

fn with(server: fn(DuplexStream)) -> Arc<Fake> {
    Arc::new(Fake {
        server: Some(server),
        ..Fake::default()
    })
}

impl Raw {
    /// Sends a request; the head and the body, as long as the head says, of the answer.
    async fn asks(&mut self, request: &str) -> (String, String) {
        self.0.write_all(request.as_bytes()).await.unwrap();
        let head = read_head(&mut self.0).await;
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        });
        let mut body = vec![0; length.unwrap_or(0)];
        if !request.starts_with("HEAD") {
            self.0.read_exact(&mut body).await.unwrap();
        }
        (head, String::from_utf8(body).unwrap())
    }
}

#[tokio::test]
async fn connect_opens_a_tunnel_and_loses_nothing_that_was_sent_early() {
    for type_name in ["mixed", "http"] {
        let fake = Arc::new(Fake::default());
        let inbound = open(type_name, &fake);
        let mut client = Raw::connect(&inbound).await;
        let eager = "CONNECT echo.test:443 HTTP/1.1\r\nHost: echo.test:443\r\n\r\neager";
        client.0.write_all(eager.as_bytes()).await.unwrap();
        let head = read_head(&mut client.0).await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(
            !head.to_ascii_lowercase().contains("content-length"),
            "{head}"
        );
        client.says("", "eager").await;
        client.echoes().await;
        let mut client = Raw::connect(&inbound).await;
        client
            .says(
                "CONNECT [2001:db8::1]:80 HTTP/1.1\r\nHost: x\r\n\r\n",
                "HTTP/1.1 200",
            )
            .await;
        assert_eq!(fake.asked(), ["echo.test:443", "[2001:db8::1]:80"]);
    }
}

#[tokio::test]
async fn a_half_closed_tunnel_still_answers() {
    let inbound = open("http", &Arc::new(Fake::default()));
    let mut client = Raw::connect(&inbound).await;
    client
        .0
        .write_all(b"CONNECT echo.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    read_head(&mut client.0).await;
    client.0.write_all(b"last words").await.unwrap();
    client.0.shutdown().await.unwrap();
    assert_eq!(client.rest().await, b"last words");
}

#[tokio::test]
async fn each_cause_has_its_status_and_its_words() {
    let inbound = open("mixed", &Arc::new(Fake::default()));
    let statuses = [
        ("refused.test", "502 Bad Gateway"),
        ("nowhere.test", "502 Bad Gateway"),
        ("unknown.test", "502 Bad Gateway"),
        ("slow.test", "504 Gateway Timeout"),
        ("broken.test", "502 Bad Gateway"),
    ];
    for (name, status) in statuses {
        let plain = format!("GET http://{name}:80/ HTTP/1.1\r\nHost: {name}\r\n\r\n");
        let tunnel = format!("CONNECT {name}:80 HTTP/1.1\r\nHost: {name}\r\n\r\n");
        for request in [plain, tunnel] {
            let (head, body) = Raw::connect(&inbound).await.asks(&request).await;
            assert!(
                head.starts_with(&format!("HTTP/1.1 {status}\r\n")),
                "{head}"
            );
            assert_eq!(body, format!("{name}:80 is of no use\n"));
        }
    }
}

#[tokio::test]
async fn who_is_not_known_gets_407_and_may_try_again_on_the_same_connection() {
    let fake = with(mirror);
    let inbound = closed("http", &fake);
    let mut client = Raw::connect(&inbound).await;
    let (head, body) = client
        .asks("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n")
        .await;
    assert!(head.starts_with("HTTP/1.1 407 "), "{head}");
    assert!(
        head.to_ascii_lowercase()
            .contains("proxy-authenticate: basic realm="),
        "{head}"
    );
    assert_eq!(body, "this proxy wants a username and password\n");
    assert_eq!(fake.asked(), [""; 0]);

    let again = format!("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n{ANN}\r\n");
    let (head, body) = client.asks(&again).await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(
        body, "GET / host=web.test []",
        "the password goes no further"
    );
    assert_eq!(fake.last_user().as_deref(), Some("ann"));
}

#[tokio::test]
async fn a_plain_request_is_sent_on_as_its_server_wants_it() {
    let fake = with(mirror);
    let inbound = open("mixed", &fake);
    let mut client = Raw::connect(&inbound).await;
    let (head, body) = client
        .asks(
            "POST http://me:pw@web.test:8080/a?b=c HTTP/1.1\r\nHost: other.test\r\n\
             Proxy-Connection: keep-alive\r\nConnection: X-Mine\r\nX-Mine: 1\r\nX-Kept: 2\r\n\
             Content-Length: 4\r\n\r\nbody",
        )
        .await;
    assert_eq!(
        body,
        "POST /a?b=c content-length=4 host=web.test:8080 x-kept=2 [body]"
    );
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("x-end: 2") && !head.contains("x-hop"),
        "{head}"
    );

    let chunked = "PUT http://web.test:8080 HTTP/1.1\r\nHost: web.test\r\n\
                   Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";
    let (_, body) = client.asks(chunked).await;
    assert_eq!(
        body,
        "PUT / host=web.test:8080 transfer-encoding=chunked [body]"
    );

    let (head, _) = client
        .asks("HEAD http://web.test:8080/ HTTP/1.1\r\nHost: x\r\n\r\n")
        .await;
    assert!(
        head.to_ascii_lowercase().contains("content-length: "),
        "{head}"
    );
    assert_eq!(
        fake.asked(),
        ["web.test:8080"],
        "one connection for all three"
    );
}

#[tokio::test]
async fn another_server_or_user_gets_another_connection() {
    let fake = with(mirror);
    let users = json!([
        { "username": "ann", "password": "secret" }, { "username": "bob", "password": "" },
    ]);
    let inbound = serve(
        json!({ "type": "http", "listen_port": 0, "users": users }),
        &fake,
    );
    let mut client = Raw::connect(&inbound).await;
    let bob = "Proxy-Authorization: basic Ym9iOg==\r\n";
    for (name, login) in [
        ("a.test", ANN),
        ("a.test", ANN),
        ("a.test", bob),
        ("b.test", bob),
    ] {
        let request = format!("GET http://{name}/ HTTP/1.1\r\nHost: {name}\r\n{login}\r\n");
        let (_, body) = client.asks(&request).await;
        assert_eq!(body, format!("GET / host={name} []"));
    }
    assert_eq!(fake.asked(), ["a.test:80", "a.test:80", "b.test:80"]);
}

#[tokio::test]
async fn a_server_that_closed_meanwhile_is_asked_on_a_new_connection() {
    let fake = with(forgetful);
    let inbound = open("http", &fake);
    let mut client = Raw::connect(&inbound).await;
    for _ in 0..3 {
        let (head, body) = client
            .asks("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n")
            .await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert_eq!(body, "hello");
    }
    assert_eq!(fake.asked().len(), 3);
}

#[tokio::test]
async fn a_server_that_hangs_up_is_a_bad_gateway() {
    let inbound = open("http", &with(rude));
    let mut client = Raw::connect(&inbound).await;
    let (head, body) = client
        .asks("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n")
        .await;
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    assert!(body.contains("web.test:80"), "{body}");
}

#[tokio::test]
async fn what_is_meant_for_a_web_server_is_told_that_this_is_a_proxy() {
    let fake = Arc::new(Fake::default());
    let inbound = open("http", &fake);
    for (request, words) in [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "this is a proxy"),
        (
            "GET https://web.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
            "by CONNECT only",
        ),
        (
            "CONNECT web.test HTTP/1.1\r\nHost: x\r\n\r\n",
            "needs a host and a port",
        ),
    ] {
        let (head, body) = Raw::connect(&inbound).await.asks(request).await;
        assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
        assert!(body.contains(words), "{body}");
    }
    assert_eq!(fake.asked(), [""; 0]);
}
