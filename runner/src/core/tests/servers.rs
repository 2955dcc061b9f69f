//! Servers on loopback: an echo, and proxies that speak by the book or not at all.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::target;
use crate::proxy_core::{Io, Target};
use crate::testing::read_head;

/// A listening server; it and its connections end when it is dropped.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    accepting: AbortHandle,
    /// What clients asked for, in order.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) async fn start<F>(talk: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::recording(move |stream, _| talk(stream)).await
    }

    /// Sends `answer` to whoever has sent something, then closes.
    pub(super) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |mut stream| {
            let answer = answer.clone();
            async move {
                stream.readable().await.ok();
                stream.write_all(&answer).await.ok();
                stream.shutdown().await.ok();
                // Closing with unread bytes would reset the connection.
                while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
            }
        })
        .await
    }

    /// Accepts and says nothing.
    pub(super) async fn silent() -> Self {
        Self::start(|mut stream| async move {
            while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
        })
        .await
    }

    /// Resets each connection once something has come.
    pub(super) async fn resetting() -> Self {
        Self::start(|stream| async move {
            stream.readable().await.ok();
            stream.set_zero_linger().unwrap();
        })
        .await
    }

    pub(super) async fn echo() -> Self {
        Self::start(|stream| async move {
            let (mut read, mut write) = split(stream);
            tokio::io::copy(&mut read, &mut write).await.ok();
        })
        .await
    }

    /// A SOCKS 5 proxy, with a password if `login` is given.
    pub(super) async fn socks5(login: Option<(&'static str, &'static str)>) -> Self {
        Self::recording(move |mut stream, asked| async move {
            if let Some(wanted) = socks5(&mut stream, login).await {
                forward(stream, &wanted, &asked, b"\x05\0\0\x01\0\0\0\0\0\0").await;
            }
        })
        .await
    }

    /// A SOCKS 4 and 4a proxy; what is asked is recorded with the user in front.
    pub(super) async fn socks4() -> Self {
        Self::recording(|mut stream, asked| async move {
            if let Some((user, wanted)) = socks4(&mut stream).await {
                asked.lock().unwrap().push(user);
                forward(stream, &wanted, &asked, b"\0\x5a\0\0\0\0\0\0").await;
            }
        })
        .await
    }

    /// An HTTP proxy that agrees to everything and records the heads.
    pub(super) async fn http(answer: &'static str) -> Self {
        Self::recording(move |stream, asked| http(stream, asked, answer)).await
    }

    /// The same over TLS.
    pub(super) async fn https(config: Arc<ServerConfig>) -> Self {
        Self::recording(move |stream, asked| {
            let acceptor = TlsAcceptor::from(Arc::clone(&config));
            async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    http(stream, asked, "HTTP/1.1 200 OK\r\n\r\n").await;
                }
            }
        })
        .await
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Its address by a name that only the proxies here know.
    pub(super) fn named(&self) -> Target {
        target(&format!("web.test:{}", self.address.port()))
    }

    pub(super) fn target(&self) -> Target {
        target(&self.address.to_string())
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Lets `talk` write down what it was asked.
    pub(super) async fn recording<F>(
        talk: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&asked);
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(talk(stream, Arc::clone(&record)));
            }
        });
        Self {
            address,
            accepting: accepting.abort_handle(),
            asked,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// A port where nothing listens.
pub(super) async fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

/// Connects to what was asked for; every name is loopback.
async fn forward(mut stream: impl Io, wanted: &Target, asked: &Mutex<Vec<String>>, agreed: &[u8]) {
    asked.lock().unwrap().push(wanted.to_string());
    let Ok(mut there) = TcpStream::connect(("127.0.0.1", wanted.port)).await else {
        return;
    };
    stream.write_all(agreed).await.unwrap();
    copy_bidirectional(&mut stream, &mut there).await.ok();
}

async fn socks5(stream: &mut TcpStream, login: Option<(&str, &str)>) -> Option<Target> {
    assert_eq!(stream.read_u8().await.ok()?, 5);
    let methods = read_counted(stream).await?;
    let method = if login.is_some() { 2 } else { 0 };
    if !methods.contains(&method) {
        stream.write_all(&[5, 0xff]).await.ok()?;
        return None;
    }
    stream.write_all(&[5, method]).await.ok()?;
    if let Some((user, password)) = login {
        assert_eq!(stream.read_u8().await.ok()?, 1);
        let given = (read_counted(stream).await?, read_counted(stream).await?);
        let good = given == (user.into(), password.into());
        stream.write_all(&[1, u8::from(!good)]).await.ok()?;
        if !good {
            return None;
        }
    }
    let mut request = [0; 4];
    stream.read_exact(&mut request).await.ok()?;
    assert_eq!(request[..3], [5, 1, 0]);
    let host = match request[3] {
        1 => IpAddr::from(stream.read_u32().await.ok()?.to_be_bytes()).to_string(),
        4 => format!(
            "[{}]",
            IpAddr::from(stream.read_u128().await.ok()?.to_be_bytes())
        ),
        3 => String::from_utf8(read_counted(stream).await?).unwrap(),
        other => panic!("address type {other}"),
    };
    Some(target(&format!("{host}:{}", stream.read_u16().await.ok()?)))
}

async fn socks4(stream: &mut TcpStream) -> Option<(String, Target)> {
    assert_eq!(stream.read_u16().await.ok()?, 0x0401);
    let port = stream.read_u16().await.ok()?;
    let ip = stream.read_u32().await.ok()?.to_be_bytes();
    let user = read_zero_ended(stream).await?;
    let host = match ip {
        [0, 0, 0, _] => read_zero_ended(stream).await?,
        ip => IpAddr::from(ip).to_string(),
    };
    Some((user, target(&format!("{host}:{port}"))))
}

async fn http(mut stream: impl Io, asked: Arc<Mutex<Vec<String>>>, answer: &'static str) {
    let head = read_head(&mut stream).await;
    asked.lock().unwrap().push(head.clone());
    let host = head
        .lines()
        .find_map(|line| line.strip_prefix("Host: "))
        .unwrap();
    forward(stream, &target(host), &Mutex::default(), answer.as_bytes()).await;
}

async fn read_counted(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = vec![0; stream.read_u8().await.ok()?.into()];
    stream.read_exact(&mut bytes).await.ok()?;
    Some(bytes)
}

async fn read_zero_ended(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        match stream.read_u8().await.ok()? {
            0 => return String::from_utf8(bytes).ok(),
            byte => bytes.push(byte),
        }
    }
}
