//! Requests by HEAD, of which URL tests are made: what differs from the rest of HTTP, and
//! that the same mistakes are told in the same way.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep};

use super::Peer;
use crate::Request;
use crate::proxy_core::{Cause, Phase};
use crate::testing::{head, read_head};

const MS: Duration = Duration::from_millis(1);

fn twice() -> Request {
    Request {
        repeat: true,
        ..head("http://a.test/")
    }
}

#[tokio::test(start_paused = true)]
async fn t2_an_answer_is_its_status_and_the_headers_asked_for() {
    let mut request = head("http://a.test/");
    request.response_headers = vec!["location".into(), "date".into()];
    for answer in [
        "HTTP/1.1 302 Found\r\nServer: x\r\nLOCATION: /ÿ\r\n\r\n",
        "HTTP/1.0 302\nlocation:  /ÿ \nContent-Length: 500\n\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
         HTTP/1.1 302 Found\r\nLocation: /ÿ\r\n\r\n",
    ] {
        let latin: Vec<u8> = answer.chars().map(|c| c as u8).collect();
        let peer = Peer::new(move |mut stream| {
            let latin = latin.clone();
            async move {
                read_head(&mut stream).await;
                stream.write_all(&latin).await.ok();
            }
        });
        let response = peer.fetch(&request).await.unwrap();
        assert_eq!(response.status, 302, "{answer:?}");
        let headers = [("location".to_owned(), "/\u{fffd}".to_owned())];
        assert_eq!(response.headers, headers, "{answer:?}");
        assert!(response.body.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn t2_a_head_that_comes_in_pieces_is_read_to_its_end() {
    let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\nB: c\r\n\r\n", "b".repeat(3000));
    for size in [1, 7, 1023, 1024, 1025] {
        let long = long.clone();
        let peer = Peer::new(move |mut stream| {
            let long = long.clone();
            async move {
                read_head(&mut stream).await;
                for piece in long.as_bytes().chunks(size) {
                    stream.write_all(piece).await.ok();
                    sleep(MS / 10).await;
                }
            }
        });
        let response = peer.fetch(&head("http://a.test/")).await.unwrap();
        assert_eq!(response.status, 200, "pieces of {size} bytes");
    }
}

#[tokio::test(start_paused = true)]
async fn t10_what_is_wrong_with_a_head_is_told_as_for_any_other_request() {
    let endless = format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(70_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(200));
    for (answer, cause) in [
        ("SSH-2.0-OpenSSH_9.2\r\n", Cause::HttpMalformed),
        ("\x16\x03\x01\x02\x02", Cause::HttpMalformed),
        ("HTTP/9.9 abc\r\n\r\n", Cause::HttpMalformed),
        (&endless, Cause::HttpMalformed),
        (&many, Cause::HttpMalformed),
        ("", Cause::Eof),
        ("HTTP/1.1 200 OK\r\nConte", Cause::Eof),
        ("HTTP/1.1 103 Early\r\n\r\n", Cause::Eof),
    ] {
        let answer = answer.to_owned();
        let peer = Peer::new(move |mut stream| {
            let answer = answer.clone();
            async move {
                read_head(&mut stream).await;
                stream.write_all(answer.as_bytes()).await.ok();
            }
        });
        let by_head = peer.fetch(&head("http://a.test/")).await.unwrap_err();
        assert_eq!((by_head.phase, by_head.cause), (Phase::Http, cause));
        let whole = Request {
            method: "OPTIONS".into(),
            ..head("http://a.test/")
        };
        let whole = peer.fetch(&whole).await.unwrap_err();
        assert_eq!((whole.phase, whole.cause), (Phase::Http, cause));
    }
}

#[tokio::test(start_paused = true)]
async fn t2_the_deadline_ends_a_head_that_drips() {
    let peer = Peer::new(|mut stream| async move {
        for byte in "HTTP/1.1 200 OK\r\n".bytes().chain(std::iter::repeat(b'x')) {
            sleep(100 * MS).await;
            if stream.write_u8(byte).await.is_err() {
                return;
            }
        }
    });
    let request = head("http://a.test/");
    let start = Instant::now();
    assert_eq!(peer.failure(&request).await, (Phase::Http, Cause::Timeout));
    assert_eq!(start.elapsed(), request.deadline);
}

#[tokio::test(start_paused = true)]
async fn t3_the_second_round_trip_by_head_is_timed_on_the_same_connection() {
    let peer = Peer::new(|mut stream| async move {
        for wait in [50, 20] {
            let head = read_head(&mut stream).await;
            assert!(!head.contains("Connection: close"), "{head}");
            sleep(wait * MS).await;
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
            stream.write_all(answer).await.unwrap();
        }
        stream.read_u8().await.ok();
    });
    let timing = peer.fetch(&twice()).await.unwrap().timing;
    assert_eq!((timing.first_byte, timing.total), (50 * MS, 50 * MS));
    assert_eq!(timing.repeat, Some(20 * MS));
    assert_eq!(peer.dialed().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn t3_a_second_by_head_that_cannot_be_takes_nothing_away() {
    for answers in [
        &["HTTP/1.1 204 No Content\r\n\r\n"][..],
        &["HTTP/1.1 204 No Content\r\n\r\n", "nonsense\r\n\r\n"],
        // A body that should not be there would be taken for the second answer.
        &["HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"],
    ] {
        let response = Peer::answering(answers).fetch(&twice()).await.unwrap();
        assert_eq!((response.status, response.timing.repeat), (204, None));
    }
    let silent = Peer::new(|mut stream| async move {
        read_head(&mut stream).await;
        let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        std::future::pending::<()>().await;
    });
    let start = Instant::now();
    assert_eq!(silent.fetch(&twice()).await.unwrap().timing.repeat, None);
    assert_eq!(start.elapsed(), twice().deadline);
}
