//! Connections that are counted, through a real inbound: what is known of each, and its end.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tokio::io::{AsyncReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};

use super::udp::{self, Associated, LOOPBACK};
use super::{Raw, direct};
use crate::inbound::{Carried, Client, Connection, Connections, Serving, Upstream, read};
use crate::proxy_core::{Datagrams, FetchError, Io, Network, ProxyCore, Target};
use crate::testing::PATIENCE;

/// Every connection to a server that says everything again, counted.
struct Counting {
    connections: Connections,
    server: SocketAddr,
    /// What comes to the relay is more than a socket.
    wrapped: bool,
}

#[async_trait]
impl Upstream for Counting {
    async fn connect(&self, client: &Client, target: &Target) -> Result<Box<dyn Io>, FetchError> {
        let socket = TcpStream::connect(self.server).await.unwrap();
        let stream: Box<dyn Io> = match self.wrapped {
            true => Box::new(BufReader::new(socket)),
            false => Box::new(socket),
        };
        Ok(self.connections.stream(stream, client, target, chain()))
    }

    async fn associate(&self, client: &Client) -> Result<Box<dyn Datagrams>, FetchError> {
        let deadline = Instant::now() + PATIENCE;
        let way = direct().associate("direct", deadline).await?;
        Ok(self.connections.datagrams(way, client, chain()))
    }
}

fn chain() -> Vec<String> {
    ["group", "outbound"].map(str::to_owned).into()
}

/// An inbound in front of it.
async fn scene(wrapped: bool) -> (Serving, Connections) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let server = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    let connections = Connections::default();
    let upstream = Counting {
        connections: connections.clone(),
        server,
        wrapped,
    };
    let (inbounds, _) = read(&[json!({ "type": "mixed", "tag": "in", "listen_port": 0 })]);
    let inbound = inbounds.into_iter().next().unwrap();
    (inbound.serve(Arc::new(upstream)).unwrap(), connections)
}

/// A client with a tunnel to `x.test`.
async fn tunnel(inbound: &Serving) -> Raw {
    let mut client = Raw::connect(inbound).await;
    client.says([5, 1, 0], [5, 0]).await;
    let request = [&[5, 1, 0, 3, 6][..], b"x.test", &[1, 187]].concat();
    client.says(request, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await;
    client
}

fn only(connections: &Connections) -> Arc<Connection> {
    let open = connections.open();
    let [one] = open.as_slice() else {
        panic!("{open:?}");
    };
    Arc::clone(one)
}

/// Waits until as many are open: an end is seen by others a little later.
async fn until_open(connections: &Connections, count: usize) {
    let reached = async {
        while connections.open().len() != count {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, reached).await.expect("such a count");
}

/// Waits for an echo that is on its way to be counted: it was read before it is.
async fn until_carried(connections: &Connections, wanted: Carried) {
    let reached = async {
        while connections.carried() != wanted {
            tokio::task::yield_now().await;
        }
    };
    let waited = timeout(PATIENCE, reached).await;
    assert!(waited.is_ok(), "{:?}", connections.carried());
}

#[tokio::test]
async fn a_connection_is_known_by_all_about_it_and_carries_what_both_sides_say() {
    for wrapped in [false, true] {
        let (inbound, connections) = scene(wrapped).await;
        let mut client = tunnel(&inbound).await;
        client.echoes().await;
        let one = only(&connections);
        assert_eq!(one.network, Network::Tcp);
        assert_eq!(&*one.client.inbound, "in");
        assert_eq!(one.client.source, client.0.local_addr().unwrap());
        assert_eq!(one.target().unwrap().to_string(), "x.test:443");
        assert_eq!(one.chain, ["group", "outbound"]);
        let said = Carried { up: 10, down: 10 };
        until_carried(&connections, said).await;
        assert_eq!(one.carried(), said);

        drop(client);
        until_open(&connections, 0).await;
        assert_eq!(connections.carried(), said, "what is gone counts too");
    }
}

/// Else it would be copied, which costs three times as much.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_socket_that_is_counted_is_still_relayed_as_one() {
    use crate::inbound::connections::{counted::bare, meter::count};

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let server = listener.local_addr().unwrap();
    let client = Client {
        inbound: "in".into(),
        source: server,
        user: None,
    };
    let socket = TcpStream::connect(server).await.unwrap();
    let ours = socket.local_addr().unwrap();
    let connections = Connections::default();
    let counted = connections.stream(Box::new(socket), &client, &server.into(), chain());
    let (socket, meter) = bare(&*counted).expect("a socket");
    assert_eq!(socket.local_addr().unwrap(), ours);
    count(&meter.expect("a meter").up, 3);
    assert_eq!(connections.carried(), Carried { up: 3, down: 0 });
}

#[tokio::test]
async fn a_flood_is_counted_to_the_byte() {
    for wrapped in [false, true] {
        let (inbound, connections) = scene(wrapped).await;
        let client = tunnel(&inbound).await;
        let flood = vec![7; 3_000_000];
        let (mut read, mut write) = client.0.into_split();
        let sent = flood.clone();
        let sending = tokio::spawn(async move {
            tokio::io::AsyncWriteExt::write_all(&mut write, &sent)
                .await
                .unwrap();
            write
        });
        let mut heard = vec![0; flood.len()];
        let hearing = timeout(PATIENCE, read.read_exact(&mut heard));
        hearing.await.expect("all of it").unwrap();
        assert!(heard == flood);
        let (up, down) = (3_000_000, 3_000_000);
        until_carried(&connections, Carried { up, down }).await;
        drop(sending.await.unwrap());
    }
}

#[tokio::test]
async fn a_connection_is_closed_by_its_id_and_no_other_with_it() {
    for wrapped in [false, true] {
        let (inbound, connections) = scene(wrapped).await;
        let mut first = tunnel(&inbound).await;
        let id = only(&connections).id();
        let mut second = tunnel(&inbound).await;
        until_open(&connections, 2).await;

        let (_, strange) = scene(wrapped).await;
        assert!(!strange.close(&id), "an id of another run closes nothing");
        assert!(!connections.close("nonsense"));
        assert!(connections.close(&id));
        assert!(first.rest().await.is_empty());
        until_open(&connections, 1).await;
        assert_ne!(only(&connections).id(), id);
        second.echoes().await;

        connections.close_all();
        assert!(second.rest().await.is_empty());
        until_open(&connections, 0).await;
    }
}

#[tokio::test]
async fn an_association_counts_its_datagrams_and_is_closed_like_a_connection() {
    let (inbound, connections) = scene(false).await;
    let mut client = Associated::new(&inbound).await;
    assert_eq!(only(&connections).network, Network::Udp);
    assert_eq!(only(&connections).target(), None, "nothing was sent yet");
    let server = udp::echo().await;
    client.sends(0, &LOOPBACK, server, b"to and fro").await;
    assert_eq!(client.hears(server).await, b"to and fro");
    let one = only(&connections);
    assert_eq!(one.carried(), Carried { up: 10, down: 10 });
    let target = one.target().unwrap().to_string();
    assert_eq!(target, format!("127.0.0.1:{server}"));

    assert!(connections.close(&one.id()));
    assert!(client.control.rest().await.is_empty());
    until_open(&connections, 0).await;
}
