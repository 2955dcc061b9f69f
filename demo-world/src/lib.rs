//! A little internet on loopback: proxies with manners good and bad, a TLS site to
//! test against, and an IP service that sees which proxy a caller came out of.
//! It must not know Outwatch: all it hands out is a config text.
//!
//! ```
//! # async fn example() -> std::io::Result<()> {
//! use outwatch_demo_world::{Behaviour, Exit, Proxy, World};
//!
//! let mut world = World::start().await?;
//! let berlin = Exit::new("192.0.2.10", "DE", "Berlin", 64496, "Example Net");
//! world.add(Proxy::socks("fast").exit(berlin)).await?;
//! world.add(Proxy::http("mute").behaves(Behaviour::Hanging)).await?;
//! let config_text = world.config();
//! # Ok(())
//! # }
//! ```

mod authority;
mod cast;
mod exit;
mod network;
mod proxy;
mod site;
mod whereabouts;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use authority::Authority;
use network::{Network, Place};

pub use exit::Exit;
pub use proxy::{Behaviour, Proxy};

/// The host name of the site to test against. Only the world's proxies can
/// resolve it; it never reaches a resolver.
pub const TEST_HOST: &str = "test.outwatch.example";

/// The host name that proxies which speak TLS show.
const PROXY_HOST: &str = "proxy.outwatch.example";

/// The world: it lives until it is dropped.
pub struct World {
    network: Arc<Network>,
    authority: Authority,
    ip_service: SocketAddr,
    outbounds: Vec<Value>,
    /// Ports that are taken but where nobody listens.
    dead: Vec<tokio::net::TcpSocket>,
    servers: JoinSet<()>,
}

impl World {
    /// A world with a test site and an IP service, and no proxy yet.
    ///
    /// # Errors
    /// When loopback cannot be listened on, or no certificate can be made.
    pub async fn start() -> io::Result<Self> {
        let authority = Authority::new("The demo's authority")?;
        let stranger = Authority::new("Nobody you know")?;
        let (site, impostor, ip_service) = (listen().await?, listen().await?, listen().await?);
        let ip_service_at = ip_service.local_addr()?;
        let network = Arc::new(Network::new(
            site.local_addr()?,
            impostor.local_addr()?,
            ip_service_at,
        ));

        let mut servers = JoinSet::new();
        let tls = authority.acceptor(TEST_HOST)?;
        servers.spawn(serve(site, move |stream| site::answer(stream, tls.clone())));
        let tls = stranger.acceptor(TEST_HOST)?;
        servers.spawn(serve(impostor, move |stream| {
            site::answer(stream, tls.clone())
        }));
        let seen_by = network.clone();
        servers.spawn(serve(ip_service, move |stream| {
            whereabouts::answer(stream, seen_by.clone())
        }));

        Ok(Self {
            network,
            authority,
            ip_service: ip_service_at,
            outbounds: Vec::new(),
            dead: Vec::new(),
            servers,
        })
    }

    /// Opens a proxy, and puts an outbound that leads to it into the config.
    ///
    /// # Errors
    /// When loopback cannot be listened on, or no certificate can be made.
    pub async fn add(&mut self, proxy: Proxy) -> io::Result<()> {
        let address = if proxy.behaviour == Behaviour::Dead {
            let socket = tokio::net::TcpSocket::new_v4()?;
            socket.bind(loopback())?;
            let address = socket.local_addr()?;
            self.dead.push(socket);
            address
        } else {
            let listener = listen().await?;
            let address = listener.local_addr()?;
            let tls = match proxy.tls {
                true => Some(self.authority.acceptor(PROXY_HOST)?),
                false => None,
            };
            let host = Arc::new(proxy::Host::new(proxy.clone(), tls, self.network.clone()));
            self.servers
                .spawn(serve(listener, move |stream| host.clone().serve(stream)));
            address
        };
        self.network.know(address, Place::Proxy);
        self.outbounds.push(proxy.outbound(address, PROXY_HOST));
        Ok(())
    }

    /// Puts an entry of another kind into the config: a group, say.
    pub fn add_entry(&mut self, entry: Value) {
        self.outbounds.push(entry);
    }

    /// A config for all of it, in short intervals.
    pub fn config(&self) -> String {
        let config = json!({
            "certificate": { "certificate": [self.authority.pem()] },
            "outbounds": self.outbounds,
            "experimental": { "monitoring": {
                "urls": [self.test_url()],
                "ipinfo_url": format!("http://{}/json", self.ip_service),
                "interval": "3s",
                "url_test_timeout": "2s",
                "on_demand_timeouts": ["500ms", "1s", "2s"],
                "debounce_window": "100ms",
                "idle_timeout": "1d",
            }},
        });
        format!("{config:#}\n")
    }

    /// The address to test against; it answers 204.
    pub fn test_url(&self) -> String {
        format!("https://{TEST_HOST}/generate_204")
    }
}

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

async fn listen() -> io::Result<TcpListener> {
    TcpListener::bind(loopback()).await
}

/// Serves every connection on its own; all end with the listener. A broken
/// connection concerns its caller alone.
async fn serve<F>(listener: TcpListener, answer: impl Fn(TcpStream) -> F)
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(answer(stream));
        while connections.try_join_next().is_some() {}
    }
}
