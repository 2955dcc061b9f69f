//! Inbounds in front of an upstream that only says what it was asked for.

mod connections;
mod hostile;
mod http;
mod options;
mod serving;
mod socks;
mod udp;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, copy, duplex, split};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::{Client, Serving, Upstream, read};
use crate::NativeCore;
use crate::proxy_core::{Cause, Datagrams, FetchError, Host, Io, Phase, ProxyCore, Target};
use crate::testing::PATIENCE;

/// An upstream for tests. What it does is in the name of the target: `echo.test` says
/// everything again, and a name such as `refused.test` fails for that cause.
#[derive(Default)]
struct Fake {
    asked: Mutex<Vec<(Client, String)>>,
    /// Serves all other names; one call for each connection.
    server: Option<fn(DuplexStream)>,
    carries_datagrams: bool,
}

#[async_trait]
impl Upstream for Fake {
    async fn connect(&self, client: &Client, target: &Target) -> Result<Box<dyn Io>, FetchError> {
        let asked = (client.clone(), target.to_string());
        self.asked.lock().unwrap().push(asked);
        let cause = match target.host.to_string().as_str() {
            "refused.test" => Cause::Refused,
            "nowhere.test" => Cause::NoRoute,
            "unknown.test" => Cause::DnsFailed,
            "slow.test" => Cause::DialTimeout,
            "broken.test" => Cause::ProxyHandshake,
            "silent.test" => std::future::pending().await,
            name => {
                let (here, there) = duplex(4096);
                match self.server {
                    Some(server) if name != "echo.test" => server(there),
                    _ => echo(there),
                }
                return Ok(Box::new(here));
            }
        };
        let text = format!("{target} is of no use");
        Err(FetchError::new(Phase::Dial, cause, text))
    }

    async fn associate(&self, client: &Client) -> Result<Box<dyn Datagrams>, FetchError> {
        let asked = (client.clone(), "datagrams".to_owned());
        self.asked.lock().unwrap().push(asked);
        if self.carries_datagrams {
            return direct()
                .associate("direct", Instant::now() + PATIENCE)
                .await;
        }
        let text = "no datagrams here";
        Err(FetchError::new(Phase::Dial, Cause::Unsupported, text))
    }
}

impl Fake {
    /// What clients asked for, in order.
    fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(_, target)| target.clone()).collect()
    }

    /// As whom the last client came.
    fn last_user(&self) -> Option<String> {
        let asked = self.asked.lock().unwrap();
        asked.last().unwrap().0.user.as_deref().map(str::to_owned)
    }
}

/// A core with an outbound straight to the target.
fn direct() -> NativeCore {
    let outbounds = json!({ "outbounds": [{ "type": "direct", "tag": "direct" }] }).to_string();
    let loaded = crate::config::read("test", outbounds.as_bytes(), &Default::default());
    NativeCore::new(&loaded.config.unwrap().entries, None).0
}

fn echo(stream: DuplexStream) {
    tokio::spawn(async move {
        let (mut read, mut write) = split(stream);
        let _ = copy(&mut read, &mut write).await;
        let _ = write.shutdown().await;
    });
}

/// An inbound of this type for everybody.
fn open(type_name: &str, fake: &Arc<Fake>) -> Serving {
    serve(json!({ "type": type_name, "listen_port": 0 }), fake)
}

/// An inbound of this type for ann alone.
fn closed(type_name: &str, fake: &Arc<Fake>) -> Serving {
    let users = json!([{ "username": "ann", "password": "secret" }]);
    serve(
        json!({ "type": type_name, "listen_port": 0, "users": users }),
        fake,
    )
}

fn serve(inbound: Value, fake: &Arc<Fake>) -> Serving {
    let (inbounds, problems) = read(&[inbound]);
    assert_eq!(problems, []);
    let inbound = inbounds.into_iter().next().unwrap();
    inbound.serve(Arc::<Fake>::clone(fake)).unwrap()
}

/// A client that speaks in bytes.
struct Raw(TcpStream);

impl Raw {
    async fn connect(serving: &Serving) -> Self {
        Self::to(serving.address()).await
    }

    async fn to(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// Sends, and reads as many bytes as `answer` has, which must be those.
    async fn says(&mut self, bytes: impl AsRef<[u8]>, answer: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
        let mut read = vec![0; answer.as_ref().len()];
        let done = timeout(PATIENCE, self.0.read_exact(&mut read)).await;
        done.unwrap().unwrap();
        assert_eq!(read, answer.as_ref());
    }

    /// All that comes until the other side closes.
    async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset ends it too.
        let _ = timeout(PATIENCE, self.0.read_to_end(&mut rest))
            .await
            .unwrap();
        rest
    }

    async fn echoes(&mut self) {
        self.says("to and fro", "to and fro").await;
    }
}

/// A short while in which what must not come would come.
const SHORT: Duration = Duration::from_millis(200);

/// A host as a target has it.
fn host(name: &str) -> Host {
    Host::Name(name.to_owned())
}
