//! The HTTP/1.1 exchange: what is sent, what is read, what is timed, what fails.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::Peer;
use crate::proxy_core::{Cause, Family, Host, Target};
use crate::testing::{get, read_head};

const MS: Duration = Duration::from_millis(1);

/// What a peer was asked.
async fn request_head(request: crate::Request) -> String {
    let (sender, mut heads) = mpsc::unbounded_channel();
    let peer = Peer::new(move |mut stream: DuplexStream| {
        let sender = sender.clone();
        async move {
            sender.send(read_head(&mut stream).await).unwrap();
            stream
                .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
                .await
                .unwrap();
        }
    });
    peer.fetch(&request).await.unwrap();
    heads.recv().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn t2_the_head_is_sent_as_asked_with_the_hosts_own_host_and_connection() {
    let mut request = get("http://example.test/a%20b?c=d#e");
    request.method = "HEAD".into();
    request.headers = vec![
        ("User-Agent".into(), "outwatch/1".into()),
        ("Host".into(), "other.test".into()),
        ("connection".into(), "keep-alive".into()),
    ];
    let head = request_head(request).await;
    assert_eq!(
        head,
        "HEAD /a%20b?c=d HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\n\
         User-Agent: outwatch/1\r\n\r\n"
    );
}

#[tokio::test(start_paused = true)]
async fn the_host_header_has_the_port_and_the_brackets_of_the_url() {
    for (url, host) in [
        ("http://example.test:80/", "example.test"),
        ("http://example.test:8080/", "example.test:8080"),
        ("http://[2001:DB8::1]/", "[2001:db8::1]"),
        ("http://[2001:db8::1]:8080", "[2001:db8::1]:8080"),
        ("http://127.0.0.1/", "127.0.0.1"),
    ] {
        let head = request_head(get(url)).await;
        assert!(
            head.contains(&format!("\r\nHost: {host}\r\n")),
            "{url}: {head}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn credentials_of_the_url_are_sent_unless_given_otherwise() {
    let mut request = get("http://me:p%40ss@example.test/");
    assert!(
        request_head(request.clone())
            .await
            .contains("\r\nAuthorization: Basic bWU6cEBzcw==\r\n")
    );
    request.headers = vec![("Authorization".into(), "Bearer x".into())];
    let head = request_head(request).await;
    assert!(
        head.contains("Bearer x") && !head.contains("Basic"),
        "{head}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_target_is_the_urls_host_and_port_in_the_family_asked_for() {
    let peer = Peer::answering(&["HTTP/1.1 204 No Content\r\n\r\n"]);
    let mut request = get("http://example.test:81/");
    request.family = Some(Family::V6);
    peer.fetch(&request).await.unwrap();
    let host = Host::Name("example.test".into());
    assert_eq!(
        peer.dialed(),
        [Target {
            host,
            port: 81,
            family: Some(Family::V6)
        }]
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_sent_is_unsupported_and_never_dialed() {
    let peer = Peer::answering(&[]);
    let mut requests: Vec<_> = [
        "",
        "x",
        "ftp://a/",
        "http://",
        "http://a:0/",
        "data:,x",
        "https://-.%20/",
        "/x",
        "http://[::1",
        "http://a b/",
    ]
    .map(get)
    .into();
    requests.push(crate::Request {
        method: "CONNECT".into(),
        ..get("http://a/")
    });
    requests.push(crate::Request {
        method: "G T".into(),
        ..get("http://a/")
    });
    requests.push(crate::Request {
        headers: vec![("a b".into(), "c".into())],
        ..get("http://a/")
    });
    requests.push(crate::Request {
        headers: vec![("a".into(), "\n".into())],
        ..get("http://a/")
    });
    for request in requests {
        let error = peer.fetch(&request).await.unwrap_err();
        assert_eq!(error.cause, Cause::Unsupported, "{request:?}: {error}");
    }
    assert_eq!(peer.dialed(), []);
}

#[tokio::test(start_paused = true)]
async fn only_the_headers_asked_for_come_back() {
    let peer = Peer::answering(&[
        "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nX-A: 1\r\nx-a: 2\r\nSecret: s\r\n\r\n",
    ]);
    let mut request = get("http://a.test/");
    request.response_headers = vec!["x-a".into(), "retry-after".into(), "absent".into()];
    let response = peer.fetch(&request).await.unwrap();
    assert_eq!(response.status, 429);
    let found: Vec<_> = response
        .headers
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    assert_eq!(found, [("retry-after", "7"), ("x-a", "1"), ("x-a", "2")]);
}

#[tokio::test(start_paused = true)]
async fn i8_a_redirect_is_an_answer_and_not_followed() {
    let peer = Peer::answering(&["HTTP/1.1 302 Found\r\nLocation: http://b.test/\r\n\r\n"]);
    let mut request = get("http://a.test/");
    request.response_headers = vec!["location".into()];
    let response = peer.fetch(&request).await.unwrap();
    assert_eq!(response.status, 302);
    assert_eq!(
        response.headers,
        [("location".to_owned(), "http://b.test/".to_owned())]
    );
    assert_eq!(peer.dialed().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn i3_reading_stops_at_the_body_limit() {
    // It sends without end: only stopping ends the fetch before its deadline.
    let peer = Peer::new(|mut stream| async move {
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while stream.write_all(&[b'x'; 1000]).await.is_ok() {}
    });
    let mut request = get("http://a.test/");
    for limit in [0, 1, 1500, 200_000] {
        request.body_limit = limit;
        let response = peer.fetch(&request).await.unwrap();
        assert_eq!(response.body.len(), limit as usize);
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_of_every_framing_are_read() {
    for answer in [
        &["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
        &["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"],
        &["HTTP/1.0 200 OK\r\n\r\nhello"],
        &["HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
    ] {
        let response = Peer::answering(answer)
            .fetch(&get("http://a.test/"))
            .await
            .unwrap();
        assert_eq!(
            (response.status, response.body.as_slice()),
            (200, &b"hello"[..]),
            "{answer:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn t2_the_clock_starts_before_the_dial_and_stops_at_the_headers() {
    let peer = Peer::new(|mut stream| async move {
        read_head(&mut stream).await;
        sleep(60 * MS).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")
            .await
            .unwrap();
        sleep(25 * MS).await;
        stream.write_all(b"x").await.unwrap();
    });
    let timing = peer
        .slow(40 * MS)
        .fetch(&get("http://a.test/"))
        .await
        .unwrap()
        .timing;
    assert_eq!(
        (timing.dial, timing.first_byte, timing.total),
        (40 * MS, 100 * MS, 125 * MS)
    );
    assert_eq!(
        (timing.dns, timing.tls, timing.repeat),
        (Some(7 * MS), None, None)
    );
}

#[tokio::test(start_paused = true)]
async fn t3_the_second_round_trip_on_the_same_connection_is_timed() {
    let peer = Peer::new(|mut stream| async move {
        for wait in [50, 20] {
            let head = read_head(&mut stream).await;
            assert!(!head.contains("Connection: close"));
            sleep(wait * MS).await;
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                .await
                .unwrap();
        }
        stream.read_u8().await.ok();
    });
    let request = crate::Request {
        repeat: true,
        ..get("http://a.test/")
    };
    let timing = peer.fetch(&request).await.unwrap().timing;
    assert_eq!((timing.first_byte, timing.total), (50 * MS, 50 * MS));
    assert_eq!(timing.repeat, Some(20 * MS));
    assert_eq!(peer.dialed().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn t3_a_failed_late_or_impossible_second_takes_nothing_away() {
    let request = crate::Request {
        repeat: true,
        body_limit: 1,
        ..get("http://a.test/")
    };
    for answer in [
        // It closes instead of answering again.
        &["HTTP/1.1 204 No Content\r\n\r\n"][..],
        &["HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"],
        &["HTTP/1.1 204 No Content\r\n\r\n", "nonsense\r\n\r\n"],
        // The rest of the body stands in the way.
        &["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"],
    ] {
        let response = Peer::answering(answer).fetch(&request).await.unwrap();
        assert_eq!(response.timing.repeat, None, "{answer:?}");
    }
    let silent = Peer::new(|mut stream| async move {
        read_head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            .await
            .unwrap();
        std::future::pending::<()>().await;
    });
    let start = Instant::now();
    assert_eq!(silent.fetch(&request).await.unwrap().timing.repeat, None);
    assert!(start.elapsed() <= request.deadline + MS);
}
