//! The HTTP/1.1 exchange: what is sent, what is read, what is timed, what fails.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream, ReadBuf, sink};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use super::Peer;
use crate::fetch::CORE_GRACE;
use crate::proxy_core::{Cause, Family, FetchError, Host, Phase, Target};
use crate::testing::{PATIENCE, get, read_head};

const MS: Duration = Duration::from_millis(1);

/// Answers each request on a connection with the next of `answers`, then closes it.
fn answering(answers: &'static [&'static str]) -> Peer {
    Peer::new(move |mut stream| async move {
        for answer in answers {
            read_head(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.ok();
        }
    })
}

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
        "HEAD /a%20b?c=d HTTP/1.1\r\nhost: example.test\r\nconnection: close\r\n\
         user-agent: outwatch/1\r\n\r\n"
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
            head.contains(&format!("\r\nhost: {host}\r\n")),
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
            .contains("\r\nauthorization: Basic bWU6cEBzcw==\r\n")
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
    let peer = answering(&["HTTP/1.1 204 No Content\r\n\r\n"]);
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
    let peer = answering(&[]);
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
    let peer = answering(&[
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
    let peer = answering(&["HTTP/1.1 302 Found\r\nLocation: http://b.test/\r\n\r\n"]);
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
        let response = answering(answer)
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
            assert!(!head.contains("connection: close"));
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
        let response = answering(answer).fetch(&request).await.unwrap();
        assert_eq!(response.timing.repeat, None, "{answer:?}");
    }
    let silent = Peer::new(|mut stream| async move {
        read_head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            .await
            .unwrap();
        std::future::pending().await
    });
    let start = Instant::now();
    assert_eq!(silent.fetch(&request).await.unwrap().timing.repeat, None);
    assert!(start.elapsed() <= request.deadline + MS);
}

#[tokio::test(start_paused = true)]
async fn t10_what_is_not_http_is_malformed() {
    for answer in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\x16\x03\x01\x02\x02",
        "HTTP/9.9 abc\r\n\r\n",
        "\r\n\0",
    ] {
        let peer = Peer::new(move |mut stream| async move {
            read_head(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let failure = peer.failure(&get("http://a.test/")).await;
        assert_eq!(failure, (Phase::Http, Cause::HttpMalformed), "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn t10_headers_without_end_are_malformed() {
    for line in [
        "a: b\r\n".to_owned(),
        format!("a: {}\r\n", "b".repeat(8000)),
    ] {
        let peer = Peer::new(move |mut stream| {
            let line = line.clone();
            async move {
                read_head(&mut stream).await;
                stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
                for _ in 0..500 {
                    if stream.write_all(line.as_bytes()).await.is_err() {
                        return;
                    }
                }
                stream.write_all(b"\r\n").await.ok();
            }
        });
        let failure = peer.failure(&get("http://a.test/")).await;
        assert_eq!(failure, (Phase::Http, Cause::HttpMalformed));
    }
}

#[tokio::test(start_paused = true)]
async fn t10_a_stream_that_ends_too_early_is_eof() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\nConte",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    ] {
        let peer = Peer::new(move |mut stream| async move {
            read_head(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let failure = peer.failure(&get("http://a.test/")).await;
        assert_eq!(failure, (Phase::Http, Cause::Eof), "{answer:?}");
    }
    let closed = Peer::new(|_| async {});
    assert_eq!(
        closed.failure(&get("http://a.test/")).await,
        (Phase::Http, Cause::Eof)
    );
}

#[tokio::test(start_paused = true)]
async fn t2_the_deadline_ends_a_response_that_drips() {
    let peer = Peer::new(|mut stream| async move {
        for byte in "HTTP/1.1 200 OK\r\n".bytes().chain(std::iter::repeat(b'x')) {
            sleep(100 * MS).await;
            if stream.write_u8(byte).await.is_err() {
                return;
            }
        }
    });
    let request = crate::Request {
        deadline: 5000 * MS,
        ..get("http://a.test/")
    };
    let start = Instant::now();
    assert_eq!(peer.failure(&request).await, (Phase::Http, Cause::Timeout));
    assert_eq!(start.elapsed(), request.deadline);
}

#[tokio::test(start_paused = true)]
async fn t2_a_core_that_ignores_the_deadline_is_not_waited_for() {
    let stuck = Peer::new(|_| async {}).slow(Duration::MAX);
    let request = crate::Request {
        deadline: 5000 * MS,
        ..get("http://a.test/")
    };
    let start = Instant::now();
    assert_eq!(
        stuck.failure(&request).await,
        (Phase::Dial, Cause::DialTimeout)
    );
    assert!(start.elapsed() <= request.deadline + CORE_GRACE);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_beyond_all_measure_is_none() {
    let peer = answering(&["HTTP/1.1 204 No Content\r\n\r\n"]);
    let request = crate::Request {
        deadline: Duration::MAX,
        ..get("http://a.test/")
    };
    assert_eq!(peer.fetch(&request).await.unwrap().status, 204);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_fetch_closes_the_stream() {
    let (sender, closed) = oneshot::channel();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let peer = Peer::new(move |mut stream| {
        let sender = sender.lock().unwrap().take().unwrap();
        async move {
            read_head(&mut stream).await;
            sender
                .send(stream.read_u8().await.unwrap_err().kind())
                .unwrap();
        }
    });
    let fetch = async { peer.fetch(&get("http://a.test/")).await };
    assert!(tokio::time::timeout(PATIENCE / 2, fetch).await.is_err());
    assert_eq!(closed.await.unwrap(), io::ErrorKind::UnexpectedEof);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_stream_itself_is_passed_on() {
    fn said() -> FetchError {
        FetchError::new(Phase::Proxy, Cause::ProxyAuth, "the password is wrong")
    }
    let broken = |error| Peer::over(move || Box::new(tokio::io::join(Broken(error), sink())));
    let request = get("http://a.test/");
    let failed = broken(|| io::Error::other(said())).fetch(&request).await;
    assert_eq!(failed, Err(said()));
    let failure = broken(|| io::ErrorKind::ConnectionReset.into())
        .failure(&request)
        .await;
    assert_eq!(failure, (Phase::Http, Cause::Reset));
}

/// A stream that cannot be read.
struct Broken(fn() -> io::Error);

impl AsyncRead for Broken {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Err((self.0)()))
    }
}
