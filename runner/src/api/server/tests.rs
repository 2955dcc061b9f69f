//! The server under clients that would keep its time or its places to themselves. It must
//! not know what is asked for.

use std::io::ErrorKind;
use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use super::*;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn listening() -> (tokio::net::TcpListener, SocketAddr) {
    listen((Ipv4Addr::LOCALHOST, 0).into()).unwrap()
}

/// Reads one answer, which has no body.
async fn answered(client: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(client.read_u8().await.unwrap());
    }
    String::from_utf8(answer).unwrap()
}

async fn ask(client: &mut TcpStream) -> String {
    client.write_all(REQUEST).await.unwrap();
    answered(client).await
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_end_its_requests_head_is_let_go_after_fifteen_seconds() {
    let (listener, address) = listening();
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(&REQUEST[..20]).await.unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    let begun = Instant::now();

    let ended = converse(stream, Router::new(), CancellationToken::new()).await;

    assert!(ended.unwrap_err().is_timeout());
    assert_eq!(begun.elapsed().as_secs(), 15);
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty());
}

#[tokio::test]
async fn a_connection_too_many_is_answered_when_another_has_ended() {
    let (listener, address) = listening();
    let incoming = Incoming::over(listener, "the API".to_owned());
    let stop = CancellationToken::new();
    let serving = async {
        accept(incoming, Router::new(), 2, &stop, &mut JoinSet::new()).await;
    };
    let clients = async {
        let mut first = TcpStream::connect(address).await.unwrap();
        let mut second = TcpStream::connect(address).await.unwrap();
        ask(&mut first).await;
        ask(&mut second).await;

        let mut third = TcpStream::connect(address).await.unwrap();
        third.write_all(REQUEST).await.unwrap();
        for _ in 0..100 {
            ask(&mut first).await;
        }
        let early = third.try_read(&mut [0; 1]).unwrap_err();
        assert_eq!(early.kind(), ErrorKind::WouldBlock);

        drop(first);
        assert!(answered(&mut third).await.starts_with("HTTP/1.1 404"));
        ask(&mut second).await;
        stop.cancel();
    };
    tokio::join!(serving, clients);
}
