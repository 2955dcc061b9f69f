//! What the proxies dial with: the world's names, its addresses, and who came out
//! where, as a router that translates addresses knows it. Nothing outside the world
//! can be reached through it.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpSocket, TcpStream};

use crate::{Exit, TEST_HOST, loopback};

/// What stands at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The site to test against.
    Site,
    /// A site of the same name that is not the real one.
    Impostor,
    /// The IP service.
    IpService,
    /// A proxy.
    Proxy,
}

pub(crate) struct Network {
    site: SocketAddr,
    impostor: SocketAddr,
    places: Mutex<HashMap<SocketAddr, Place>>,
    /// By the local address of a connection that a proxy opened.
    exits: Mutex<HashMap<SocketAddr, Exit>>,
}

impl Network {
    pub(crate) fn new(site: SocketAddr, impostor: SocketAddr, ip_service: SocketAddr) -> Self {
        let places = [
            (site, Place::Site),
            (impostor, Place::Impostor),
            (ip_service, Place::IpService),
        ];
        Self {
            site,
            impostor,
            places: Mutex::new(places.into()),
            exits: Mutex::default(),
        }
    }

    /// Makes an address part of the world.
    pub(crate) fn know(&self, address: SocketAddr, place: Place) {
        lock(&self.places).insert(address, place);
    }

    /// What `host:port` means in this world; none outside of it.
    pub(crate) fn find(&self, host: &str, port: u16) -> Option<(SocketAddr, Place)> {
        if host.eq_ignore_ascii_case(TEST_HOST) {
            return Some((self.site, Place::Site));
        }
        let address = SocketAddr::new(host.parse().ok()?, port);
        lock(&self.places)
            .get(&address)
            .map(|place| (address, *place))
    }

    /// Where the impostor of the test site listens.
    pub(crate) fn impostor(&self) -> SocketAddr {
        self.impostor
    }

    /// Opens a connection that comes out of `exit`.
    pub(crate) async fn connect(
        self: &Arc<Self>,
        exit: &Exit,
        to: SocketAddr,
    ) -> io::Result<Passage> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(loopback())?;
        let from = socket.local_addr()?;
        // Written down before the far end can ask.
        lock(&self.exits).insert(from, exit.clone());
        let entry = Entry {
            network: self.clone(),
            from,
        };
        Ok(Passage {
            stream: socket.connect(to).await?,
            _entry: entry,
        })
    }

    /// The exit that a connection from `peer` came out of; none if no proxy
    /// opened it.
    pub(crate) fn exit_of(&self, peer: SocketAddr) -> Option<Exit> {
        lock(&self.exits).get(&peer).cloned()
    }
}

/// An open connection of a proxy.
pub(crate) struct Passage {
    pub(crate) stream: TcpStream,
    _entry: Entry,
}

/// Keeps a connection's exit known for as long as it is open.
struct Entry {
    network: Arc<Network>,
    from: SocketAddr,
}

impl Drop for Entry {
    fn drop(&mut self) {
        lock(&self.network.exits).remove(&self.from);
    }
}

/// The maps are whole after any panic: each change is one call.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
