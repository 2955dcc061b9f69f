//! Datagrams of our own sockets: read without a buffer of its own for each socket that
//! waits. It must not know what they hold.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;

use futures::FutureExt as _;
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::task::coop::{consume_budget, unconstrained};

/// No datagram is longer.
const LONGEST: usize = 64 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(LONGEST));
}

/// Waits for a datagram. Dropping the future loses none.
///
/// # Errors
/// Those of the socket, and of what was sent by it before.
pub(crate) async fn receive(socket: &UdpSocket) -> io::Result<(Vec<u8>, SocketAddr)> {
    loop {
        // That nobody took what was sent makes no socket readable.
        socket.ready(Interest::READABLE | Interest::ERROR).await?;
        // Others have their turn, however many come.
        consume_budget().await;
        let received = BUFFER.with_borrow_mut(|buffer| {
            buffer.clear();
            let received = unconstrained(socket.recv_buf_from(buffer)).now_or_never()?;
            Some(received.map(|(_, from)| (buffer.clone(), from)))
        });
        if let Some(received) = received {
            return received;
        }
    }
}

/// Whether an error of one datagram to or from anybody says nothing of the next: a target
/// refused an earlier one.
pub(crate) fn passes(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::testing::PATIENCE;

    async fn pair() -> (UdpSocket, UdpSocket) {
        let (one, other) = tokio::join!(
            UdpSocket::bind("127.0.0.1:0"),
            UdpSocket::bind("127.0.0.1:0")
        );
        let (one, other) = (one.unwrap(), other.unwrap());
        one.connect(other.local_addr().unwrap()).await.unwrap();
        (one, other)
    }

    #[tokio::test]
    async fn datagrams_come_whole_one_by_one_and_none_is_lost_by_giving_up() {
        let (one, other) = pair().await;
        let short = Duration::from_millis(20);
        assert!(timeout(short, receive(&other)).await.is_err());
        let longest = vec![7; 65_507];
        for payload in [&longest[..], b"", b"last"] {
            one.send(payload).await.unwrap();
        }
        let mut received = Vec::new();
        while received.len() < 3 {
            let next = timeout(PATIENCE, receive(&other)).await.unwrap();
            let (payload, from) = next.unwrap();
            assert_eq!(from, one.local_addr().unwrap());
            received.push(payload);
        }
        assert_eq!(received, [&longest[..], b"", b"last"]);
        assert!(timeout(short, receive(&other)).await.is_err());
    }

    #[tokio::test]
    async fn that_nobody_is_there_is_an_error_of_a_connected_socket() {
        let (one, other) = pair().await;
        drop(other);
        one.send(b"x").await.unwrap();
        let received = timeout(PATIENCE, receive(&one)).await.unwrap();
        let error = received.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert!(passes(&error));
    }
}
