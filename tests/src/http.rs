//! A client of HTTP that sends what it is told, byte for byte, and reads answers whole or
//! event by event. It must not know what is asked.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Far beyond what a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks one server, by a connection for each request.
#[derive(Clone, Debug)]
pub struct Client {
    address: SocketAddr,
    headers: Vec<(String, String)>,
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// The events of an answer that does not end.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    read: Vec<u8>,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its data.
    pub data: String,
}

impl Client {
    /// Asks the server on this address.
    pub fn of(address: SocketAddr) -> Self {
        Self {
            address,
            headers: Vec::new(),
        }
    }

    /// Sends this header too.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends this secret too.
    #[must_use]
    pub fn knowing(self, secret: &str) -> Self {
        self.with("authorization", &format!("Bearer {secret}"))
    }

    /// Asks, and reads the whole answer.
    ///
    /// # Panics
    /// When there is none in time.
    pub async fn ask(&self, method: &str, path: &str, body: impl Into<Bytes>) -> Answer {
        let asking = async {
            let (parts, body) = self.send(method, path, body.into()).await.into_parts();
            let body = body.collect().await.expect("a whole body").to_bytes();
            Answer {
                status: parts.status,
                headers: parts.headers,
                body,
            }
        };
        let answer = timeout(PATIENCE, asking).await;
        answer.unwrap_or_else(|_| panic!("{method} {path} has no answer"))
    }

    /// Gets what is at a path.
    ///
    /// # Panics
    /// As [`ask`](Self::ask).
    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "").await
    }

    /// Posts nothing to a path.
    ///
    /// # Panics
    /// As [`ask`](Self::ask).
    pub async fn post(&self, path: &str) -> Answer {
        self.ask("POST", path, "").await
    }

    /// Puts this at a path.
    ///
    /// # Panics
    /// As [`ask`](Self::ask).
    pub async fn put(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        self.ask("PUT", path, body).await
    }

    /// Listens to the events of a path.
    ///
    /// # Panics
    /// When there are none.
    pub async fn listen(&self, path: &str) -> Events {
        let answer = self.send("GET", path, Bytes::new()).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Events {
            body: answer.into_body(),
            read: Vec::new(),
        }
    }

    async fn send(&self, method: &str, path: &str, body: Bytes) -> hyper::Response<Incoming> {
        let stream = TcpStream::connect(self.address).await.expect("a server");
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .expect("a connection");
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path);
        let has_host = self.headers.iter().any(|(name, _)| name == "host");
        if !has_host {
            request = request.header("host", self.address.to_string());
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body)).expect("a request");
        sender.send_request(request).await.expect("an answer")
    }
}

impl Answer {
    /// The body, which is JSON.
    ///
    /// # Panics
    /// When it is not.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body, which is JSON and comes with 200.
    ///
    /// # Panics
    /// When it is not.
    pub fn fine(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{self:?}");
        self.json()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The status, and the code of the error in the body.
    pub fn refused(&self) -> (u16, String) {
        let error = self.json()["error"].clone();
        let message = error["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "{self:?}");
        let code = error["code"].as_str().unwrap_or_default().to_owned();
        (self.status.as_u16(), code)
    }
}

impl Events {
    /// The next event; none when there will be no more. Comments are passed over.
    ///
    /// # Panics
    /// When neither comes in time.
    pub async fn next(&mut self) -> Option<Event> {
        let next = async {
            loop {
                if let Some(event) = self.whole() {
                    return Some(event);
                }
                let frame = self.body.frame().await?.ok()?;
                if let Ok(data) = frame.into_data() {
                    self.read.extend_from_slice(&data);
                }
            }
        };
        timeout(PATIENCE, next).await.expect("an event or the end")
    }

    fn whole(&mut self) -> Option<Event> {
        loop {
            let end = self.read.windows(2).position(|pair| pair == b"\n\n")?;
            let lines: Vec<u8> = self.read.drain(..end + 2).collect();
            let mut event = Event::default();
            for line in String::from_utf8_lossy(&lines).lines() {
                match line.split_once(": ") {
                    Some(("id", id)) => id.clone_into(&mut event.id),
                    Some(("event", name)) => name.clone_into(&mut event.name),
                    Some(("data", data)) => event.data.push_str(data),
                    _ => {}
                }
            }
            if !event.name.is_empty() {
                return Some(event);
            }
        }
    }
}

impl Event {
    /// The data, which are JSON.
    ///
    /// # Panics
    /// When they are not.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A tag as it stands in a path.
pub fn in_path(tag: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let bytes = tag.bytes();
    bytes
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}
