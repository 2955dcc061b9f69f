//! The first bytes of a stream to a proxy: what goes together, who waits for whom, and
//! what it means when nothing comes back.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, split};
use tokio::time::{Instant, sleep, timeout};

use super::target;
use crate::core::opening::{Opening, Peer};
use crate::core::proxy::Proxy;
use crate::core::way::Stream;
use crate::proxy_core::{Cause, FetchError, Phase};
use crate::testing::PATIENCE;

/// A stream that asks `>` first, the other end of it, and the payloads that went along.
fn asking() -> (Stream, DuplexStream, Arc<Mutex<Vec<Vec<u8>>>>) {
    let (near, far) = duplex(1024);
    let firsts = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&firsts);
    let stream = Opening::new(peer(), move |payload| async move {
        record.lock().unwrap().push(payload.clone());
        let mut stream: Stream = Box::new(near);
        stream.write_all(&[b">", &*payload].concat()).await?;
        Ok(stream)
    });
    (stream, far, firsts)
}

fn peer() -> Peer {
    Peer {
        proxy: Proxy {
            kind: "server",
            server: target("192.0.2.1:443"),
            tag: "t".into(),
        },
        silence: "it sleeps",
    }
}

async fn heard(far: &mut DuplexStream, length: usize) -> Vec<u8> {
    let mut heard = vec![0; length];
    timeout(PATIENCE, far.read_exact(&mut heard))
        .await
        .unwrap()
        .unwrap();
    heard
}

fn told(error: &io::Error) -> (Phase, Cause, String) {
    let told = error.get_ref().unwrap().downcast_ref::<FetchError>();
    let FetchError { phase, cause, text } = told.unwrap().clone();
    (phase, cause, text)
}

#[tokio::test(start_paused = true)]
async fn the_first_payload_goes_along_and_no_later_one() {
    let (mut stream, mut far, firsts) = asking();
    stream.write_all(b"one").await.unwrap();
    stream.write_all(b"two").await.unwrap();
    assert_eq!(heard(&mut far, 7).await, b">onetwo");
    assert_eq!(*firsts.lock().unwrap(), [b"one"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_waits_a_moment_for_a_payload_and_then_asks_alone() {
    let (mut stream, mut far, firsts) = asking();
    let start = Instant::now();
    let answer = tokio::spawn(async move { stream.read_u8().await.unwrap() });
    assert_eq!(heard(&mut far, 1).await, b">");
    assert_eq!(start.elapsed(), Duration::from_millis(100));
    far.write_u8(7).await.unwrap();
    assert_eq!(answer.await.unwrap(), 7);
    assert_eq!(*firsts.lock().unwrap(), [b""]);
}

#[tokio::test(start_paused = true)]
async fn a_payload_that_comes_while_a_reader_waits_still_goes_along() {
    let (stream, mut far, firsts) = asking();
    let (mut read, mut write) = split(stream);
    let reading = tokio::spawn(async move { read.read_u8().await.unwrap() });
    sleep(Duration::from_millis(30)).await;
    write.write_all(b"late").await.unwrap();
    assert_eq!(heard(&mut far, 5).await, b">late");
    far.write_u8(7).await.unwrap();
    let answer = timeout(PATIENCE, reading).await.unwrap();
    assert_eq!(answer.unwrap(), 7);
    assert_eq!(*firsts.lock().unwrap(), [b"late"]);
}

#[tokio::test(start_paused = true)]
async fn reader_and_writer_both_hear_of_a_slow_opening() {
    let (near, mut far) = duplex(1024);
    let stream: Stream = Opening::new(peer(), move |payload| async move {
        sleep(Duration::from_secs(3)).await;
        let mut stream: Stream = Box::new(near);
        stream.write_all(&payload).await?;
        Ok(stream)
    });
    let (mut read, mut write) = split(stream);
    let reading = tokio::spawn(async move { read.read_u8().await.unwrap() });
    let writing = tokio::spawn(async move { write.write_all(b"all").await.unwrap() });
    assert_eq!(heard(&mut far, 3).await, b"all");
    timeout(PATIENCE, writing).await.unwrap().unwrap();
    far.write_u8(7).await.unwrap();
    assert_eq!(timeout(PATIENCE, reading).await.unwrap().unwrap(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_large_first_payload_is_sent_once_and_whole() {
    let (mut stream, mut far, firsts) = asking();
    let sent: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
    let all = sent.clone();
    let writing = tokio::spawn(async move { stream.write_all(&all).await.unwrap() });
    let heard = heard(&mut far, sent.len() + 1).await;
    assert!(heard[1..] == sent);
    writing.await.unwrap();
    assert!(firsts.lock().unwrap()[0].len() < 10_000);
}

#[tokio::test(start_paused = true)]
async fn to_shut_down_asks_first() {
    let (mut stream, mut far, _) = asking();
    stream.flush().await.unwrap();
    stream.shutdown().await.unwrap();
    let mut heard = Vec::new();
    far.read_to_end(&mut heard).await.unwrap();
    assert_eq!(heard, b">");
}

#[tokio::test(start_paused = true)]
async fn t10_an_end_without_an_answer_says_what_it_may_mean() {
    let (mut stream, far, _) = asking();
    stream.write_all(b"x").await.unwrap();
    drop(far);
    let error = stream.read_u8().await.unwrap_err();
    let (phase, cause, text) = told(&error);
    assert_eq!((phase, cause), (Phase::Proxy, Cause::Eof));
    assert_eq!(
        text,
        "the server 192.0.2.1:443 of `t` closed the connection without an answer: it sleeps"
    );
}

#[tokio::test(start_paused = true)]
async fn an_end_after_an_answer_is_an_end() {
    let (mut stream, mut far, _) = asking();
    stream.write_all(b"x").await.unwrap();
    far.write_u8(7).await.unwrap();
    drop(far);
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, [7]);
}

#[tokio::test(start_paused = true)]
async fn an_opening_that_fails_says_why_and_the_stream_stays_broken() {
    for (error, cause) in [
        (io::ErrorKind::ConnectionReset, Cause::Reset),
        (io::ErrorKind::InvalidData, Cause::ProxyHandshake),
        (io::ErrorKind::TimedOut, Cause::Timeout),
    ] {
        let mut stream = Opening::new(peer(), move |_| async move { Err(error.into()) });
        let failed = stream.write_all(b"x").await.unwrap_err();
        assert_eq!(told(&failed).1, cause);
        let broken = stream.read_u8().await.unwrap_err();
        assert_eq!(broken.kind(), io::ErrorKind::BrokenPipe);
    }
}
