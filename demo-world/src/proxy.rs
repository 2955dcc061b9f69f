//! One proxy: what it speaks, how it behaves, and the outbound that leads to it.
//! It must not know how the world resolves or counts.

mod http;
mod socks;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::Exit;
use crate::network::{Network, Passage, Place};

/// How a proxy treats those who come through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// As it should.
    Well,
    /// Drops every second connection to the test site, the first one not.
    Flaky,
    /// Nobody listens at its address.
    Dead,
    /// Accepts, and never says a word.
    Hanging,
    /// Leads to somebody else in the test site's place.
    Intercepting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Socks,
    Http,
}

/// A proxy to be opened by [`World::add`](crate::World::add).
#[derive(Clone, Debug)]
pub struct Proxy {
    tag: String,
    protocol: Protocol,
    pub(crate) behaviour: Behaviour,
    delay: Duration,
    pub(crate) tls: bool,
    exit: Exit,
    account: Option<(String, String)>,
    password_is_wrong: bool,
    detour: Option<String>,
}

impl Proxy {
    /// A SOCKS5 proxy.
    pub fn socks(tag: &str) -> Self {
        Self::new(tag, Protocol::Socks)
    }

    /// An HTTP proxy (CONNECT).
    pub fn http(tag: &str) -> Self {
        Self::new(tag, Protocol::Http)
    }

    fn new(tag: &str, protocol: Protocol) -> Self {
        Self {
            tag: tag.to_owned(),
            protocol,
            behaviour: Behaviour::Well,
            delay: Duration::ZERO,
            tls: false,
            exit: Exit::default(),
            account: None,
            password_is_wrong: false,
            detour: None,
        }
    }

    /// How long every connection through it takes to open; no time by default.
    #[must_use]
    pub fn takes(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// How it behaves; well by default.
    #[must_use]
    pub fn behaves(mut self, behaviour: Behaviour) -> Self {
        self.behaviour = behaviour;
        self
    }

    /// Where its traffic comes out.
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// It speaks TLS with a certificate of the world's authority.
    #[must_use]
    pub fn over_tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// It wants this name and password.
    #[must_use]
    pub fn account(mut self, name: &str, password: &str) -> Self {
        self.account = Some((name.to_owned(), password.to_owned()));
        self
    }

    /// The outbound that leads to it has another password.
    #[must_use]
    pub fn wrong_password(mut self) -> Self {
        self.password_is_wrong = true;
        self
    }

    /// The outbound that leads to it dials through another one.
    #[must_use]
    pub fn detour(mut self, tag: &str) -> Self {
        self.detour = Some(tag.to_owned());
        self
    }

    /// The outbound that leads to it.
    pub(crate) fn outbound(&self, server: SocketAddr, tls_host: &str) -> Value {
        let mut outbound = json!({
            "type": match self.protocol { Protocol::Socks => "socks", Protocol::Http => "http" },
            "tag": self.tag,
            "server": server.ip(),
            "server_port": server.port(),
        });
        if let Some((name, password)) = &self.account {
            outbound["username"] = json!(name);
            outbound["password"] = match self.password_is_wrong {
                true => json!(format!("not {password}")),
                false => json!(password),
            };
        }
        if self.tls {
            outbound["tls"] = json!({ "enabled": true, "server_name": tls_host });
        }
        if let Some(detour) = &self.detour {
            outbound["detour"] = json!(detour);
        }
        outbound
    }
}

/// A proxy at work.
pub(crate) struct Host {
    proxy: Proxy,
    tls: Option<TlsAcceptor>,
    network: Arc<Network>,
    /// A flaky proxy drops the next connection to the test site.
    drops_next: AtomicBool,
}

impl Host {
    pub(crate) fn new(proxy: Proxy, tls: Option<TlsAcceptor>, network: Arc<Network>) -> Self {
        Self {
            proxy,
            tls,
            network,
            drops_next: AtomicBool::new(false),
        }
    }

    /// Serves one client.
    pub(crate) async fn serve(self: Arc<Self>, client: TcpStream) -> io::Result<()> {
        if self.proxy.behaviour == Behaviour::Hanging {
            return stay_silent(client).await;
        }
        match self.tls.clone() {
            Some(tls) => {
                let client = tls.accept(client).await?;
                self.speak(client).await
            }
            None => self.speak(client).await,
        }
    }

    async fn speak<S>(self: Arc<Self>, client: S) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        match self.proxy.protocol {
            Protocol::Socks => socks::serve(&self, client).await,
            Protocol::Http => http::serve(self, client).await,
        }
    }

    /// Opens the way to a client's target, as the proxy's behaviour has it.
    async fn open(&self, host: &str, port: u16) -> Result<Passage, Refusal> {
        let (mut address, place) = self.network.find(host, port).ok_or(Refusal::Outside)?;
        tokio::time::sleep(self.proxy.delay).await;
        match self.proxy.behaviour {
            Behaviour::Flaky if place == Place::Site => {
                if self.drops_next.fetch_xor(true, Ordering::Relaxed) {
                    return Err(Refusal::Mood);
                }
            }
            Behaviour::Intercepting if place == Place::Site => address = self.network.impostor(),
            Behaviour::Well
            | Behaviour::Flaky
            | Behaviour::Dead
            | Behaviour::Hanging
            | Behaviour::Intercepting => {}
        }
        self.network
            .connect(&self.proxy.exit, address)
            .await
            .map_err(Refusal::Unreachable)
    }
}

/// Why a proxy does not open the way.
enum Refusal {
    /// There is no such place in this world.
    Outside,
    /// It drops the client without a word.
    Mood,
    /// The place does not answer.
    Unreachable(io::Error),
}

/// Reads what comes until the client gives up.
async fn stay_silent(mut client: TcpStream) -> io::Result<()> {
    tokio::io::copy(&mut client, &mut tokio::io::sink())
        .await
        .map(drop)
}
