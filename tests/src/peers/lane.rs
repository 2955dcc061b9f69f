//! A SOCKS proxy whose pace a test sets, and which is the whole internet behind it: every
//! site it leads to tells its name. It must not know who chooses it.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::sleep;

use super::local::Local;

/// How a lane treats a connection that comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Everything works, so much later.
    After(Duration),
    /// It is closed at once.
    Dead,
}

/// A SOCKS 5 proxy on 127.0.0.1, for everybody. Any site is reached through it, by any
/// name: `/generate_204` is 204, and every other page is the lane's name. So is the answer
/// to every datagram.
#[derive(Debug)]
pub struct Lane {
    local: Local,
    pace: Arc<Mutex<Pace>>,
}

impl Lane {
    /// Starts one.
    pub fn start(name: &str, pace: Pace) -> Self {
        let pace = Arc::new(Mutex::new(pace));
        let (name, current) = (Arc::<str>::from(name), Arc::clone(&pace));
        let local = Local::serve(move |stream| {
            let name = Arc::clone(&name);
            let pace = *current.lock().unwrap_or_else(PoisonError::into_inner);
            async move {
                if let Pace::After(delay) = pace {
                    sleep(delay).await;
                    // A visitor who leaves misses the rest.
                    let _ = serve(stream, &name).await;
                }
            }
        });
        Self { local, pace }
    }

    /// From the next connection on.
    pub fn set(&self, pace: Pace) {
        *self.pace.lock().unwrap_or_else(PoisonError::into_inner) = pace;
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.local.port()
    }
}

async fn serve(mut stream: TcpStream, name: &str) -> io::Result<()> {
    let [_, methods] = read(&mut stream).await?;
    skip(&mut stream, methods.into()).await?;
    stream.write_all(&[5, 0]).await?;
    let [_, command, _, kind] = read(&mut stream).await?;
    let address = match kind {
        1 => 4,
        4 => 16,
        _ => usize::from(stream.read_u8().await?),
    };
    skip(&mut stream, address + 2).await?;
    match command {
        3 => datagrams(stream, name).await,
        _ => page(stream, name).await,
    }
}

async fn page(mut stream: TcpStream, name: &str) -> io::Result<()> {
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let line = String::from_utf8_lossy(&head);
    let answer = match line.split(' ').nth(1) {
        Some("/generate_204") => "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".to_owned(),
        _ => format!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{name}",
            name.len()
        ),
    };
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Answers datagrams until the visitor closes the stream.
async fn datagrams(mut stream: TcpStream, name: &str) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let [high, low] = socket.local_addr()?.port().to_be_bytes();
    stream
        .write_all(&[5, 0, 0, 1, 127, 0, 0, 1, high, low])
        .await?;
    let answers = async {
        let mut buffer = [0; 2048];
        loop {
            let (_, from) = socket.recv_from(&mut buffer).await?;
            // From where it was sent to: an address of IPv4 and a port.
            let answer = [&buffer[..10], name.as_bytes()].concat();
            socket.send_to(&answer, from).await?;
        }
    };
    tokio::select! {
        ended = answers => ended,
        ended = stream.read_u8() => ended.map(drop),
    }
}

async fn read<const COUNT: usize>(stream: &mut TcpStream) -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn skip(stream: &mut TcpStream, count: usize) -> io::Result<()> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).await.map(drop)
}
