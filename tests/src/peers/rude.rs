//! Servers that misbehave in one certain way. It must not know which protocol their
//! visitors hope for.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::local::Local;

/// The distance of two bytes of [`Manners::Drips`].
const DRIP_EVERY: Duration = Duration::from_millis(20);

/// How a rude server treats whoever connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manners {
    /// Accepts and never says a word.
    Hangs,
    /// Closes at once, without a word.
    Closes,
    /// Resets the connection as soon as it is asked something.
    Resets,
    /// Answers the first bytes with what no proxy and no web server says.
    Babbles,
    /// Begins an HTTP answer whose headers trickle in for ever.
    Drips,
}

/// A server without manners.
#[derive(Debug)]
pub struct Rude(Local);

impl Rude {
    /// Starts one.
    pub fn start(manners: Manners) -> Self {
        Self(Local::serve(move |stream| treat(stream, manners)))
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.0.port()
    }
}

async fn treat(mut stream: TcpStream, manners: Manners) {
    match manners {
        Manners::Hangs => read_to_the_end(&mut stream).await,
        Manners::Closes => {
            // Only the writing half: bytes sent to a closed socket would be answered by
            // a reset, which may overtake the end.
            let _ = stream.shutdown().await;
            read_to_the_end(&mut stream).await;
        }
        Manners::Resets => {
            let _ = stream.read(&mut [0; 1]).await;
            let _ = stream.set_zero_linger();
        }
        Manners::Babbles => {
            let _ = stream.read(&mut [0; 1]).await;
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").await;
            read_to_the_end(&mut stream).await;
        }
        Manners::Drips => drip(&mut stream).await,
    }
}

async fn drip(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 1]).await;
    let answer = b"HTTP/1.1 200 OK\r\nX-Drip: ".iter();
    for byte in answer.chain(std::iter::repeat(&b'.')) {
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
        sleep(DRIP_EVERY).await;
    }
}

/// Keeps the connection open until the other side closes it.
async fn read_to_the_end(stream: &mut TcpStream) {
    let mut ignored = [0; 1024];
    while matches!(stream.read(&mut ignored).await, Ok(1..)) {}
}
