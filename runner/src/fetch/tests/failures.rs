//! How an exchange fails: what is not HTTP, what ends early, what never ends.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf, sink};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::Peer;
use crate::fetch::CORE_GRACE;
use crate::proxy_core::{Cause, FetchError, Phase};
use crate::testing::{PATIENCE, get, read_head};

const MS: Duration = Duration::from_millis(1);

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
    let peer = Peer::answering(&["HTTP/1.1 204 No Content\r\n\r\n"]);
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
