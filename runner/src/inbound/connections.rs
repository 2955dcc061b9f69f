//! Users' connections that are open: whose each is, where it goes and by what, and how much
//! it has carried; any can be closed. It must not know how one is opened or relayed.

pub(super) mod counted;
pub(super) mod meter;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jiff::Timestamp;
use uuid::Uuid;

use self::counted::{CountedDatagrams, CountedStream};
use self::meter::Meter;
use super::Client;
use crate::proxy_core::{Datagrams, Io, Network, Target};

/// The bits of an id that number a connection; the others are its run's, and two that every
/// random UUID has.
const NUMBER: u64 = u64::MAX >> 2;

/// The connections of users that are open. Cheap to clone; all clones are one.
///
/// A [`Dispatch`](crate::dispatch::Dispatch) that [counts](crate::dispatch::Dispatch::counting)
/// has each of its connections here while it is open. Bare sockets are counted where they are
/// relayed, so that they are relayed at no more cost than before.
#[derive(Clone)]
pub struct Connections {
    shared: Arc<Shared>,
}

struct Shared {
    /// What tells the ids of this run from those of any other.
    run: u64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    by_number: BTreeMap<u64, Arc<Connection>>,
    /// What those carried that are closed.
    gone: Carried,
}

/// A connection of a user that is open, or was when it was asked for.
#[derive(Debug)]
pub struct Connection {
    id: Uuid,
    /// A stream (TCP) or an association for datagrams (UDP).
    pub network: Network,
    /// Whose it is.
    pub client: Client,
    /// The tags that it goes by: of the groups that led to it, the outermost first, and of
    /// the outbound at the end.
    pub chain: Vec<String>,
    /// When it was opened.
    pub started: Timestamp,
    target: OnceLock<Target>,
    meter: Meter,
}

/// How many bytes went which way, without what any protocol adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// From clients.
    pub up: u64,
    /// To clients.
    pub down: u64,
}

impl Default for Connections {
    fn default() -> Self {
        let shared = Shared {
            // Without a random number ids are still this process's own.
            run: getrandom::u64().unwrap_or_default(),
            open: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.lock().by_number.len();
        f.debug_struct("Connections")
            .field("open", &open)
            .field("carried", &self.carried())
            .finish()
    }
}

impl Connections {
    /// Those that are open, the oldest first.
    pub fn open(&self) -> Vec<Arc<Connection>> {
        self.lock().by_number.values().cloned().collect()
    }

    /// All that was carried since the start, by connections that are closed too.
    pub fn carried(&self) -> Carried {
        let open = self.lock();
        let all = open.by_number.values();
        all.fold(open.gone, |sum, one| sum + one.carried())
    }

    /// Has the connection of this id close; false if there is none.
    pub fn close(&self, id: &str) -> bool {
        let Ok(id) = Uuid::try_parse(id) else {
            return false;
        };
        let number = id.as_u64_pair().1 & NUMBER;
        let open = self.lock();
        let found = open.by_number.get(&number).filter(|one| one.id == id);
        found.map(|one| one.meter.close()).is_some()
    }

    /// Has all of them close that are open now.
    pub fn close_all(&self) {
        for connection in self.open() {
            connection.meter.close();
        }
    }

    /// The stream of a connection, which is open until that is dropped.
    pub fn stream(
        &self,
        stream: Box<dyn Io>,
        client: &Client,
        target: &Target,
        chain: Vec<String>,
    ) -> Box<dyn Io> {
        let target = OnceLock::from(target.clone());
        let entry = self.enter(Network::Tcp, client, target, chain);
        Box::new(CountedStream::new(stream, entry))
    }

    /// The same of a way for datagrams. Its target is that of its first one.
    pub fn datagrams(
        &self,
        way: Box<dyn Datagrams>,
        client: &Client,
        chain: Vec<String>,
    ) -> Box<dyn Datagrams> {
        let entry = self.enter(Network::Udp, client, OnceLock::new(), chain);
        Box::new(CountedDatagrams::new(way, entry))
    }

    fn enter(
        &self,
        network: Network,
        client: &Client,
        target: OnceLock<Target>,
        chain: Vec<String>,
    ) -> Entry {
        let client = client.clone();
        let started = Timestamp::now();
        let mut open = self.lock();
        open.last += 1;
        let number = open.last;
        let connection = Arc::new(Connection {
            id: id(self.shared.run, number),
            network,
            client,
            chain,
            started,
            target,
            meter: Meter::default(),
        });
        open.by_number.insert(number, Arc::clone(&connection));
        drop(open);
        Entry {
            connections: self.clone(),
            number,
            connection,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        let open = &self.shared.open;
        open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Names it among all, of other runs too: a UUID.
    pub fn id(&self) -> String {
        self.id.to_string()
    }

    /// Where it goes; none for datagrams of which none was sent yet.
    pub fn target(&self) -> Option<&Target> {
        self.target.get()
    }

    /// What it has carried so far.
    pub fn carried(&self) -> Carried {
        self.meter.carried()
    }
}

/// A connection's place among those that are open, until it is dropped.
struct Entry {
    connections: Connections,
    number: u64,
    connection: Arc<Connection>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        // In one step: nobody sees its bytes twice, or not at all.
        open.by_number.remove(&self.number);
        open.gone = open.gone + self.connection.carried();
    }
}

impl std::ops::Add for Carried {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            up: self.up.saturating_add(other.up),
            down: self.down.saturating_add(other.down),
        }
    }
}

fn id(run: u64, number: u64) -> Uuid {
    let [run, number] = [run, number & NUMBER].map(u128::from);
    let bytes = (run << 64 | number).to_be_bytes();
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}
