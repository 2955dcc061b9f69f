//! Users' connections through a mixed inbound: how fast bytes and connections pass, and
//! the processor that they take. It must not know how a program relays.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use outwatch_tests::peers::Port;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_socks::tcp::Socks5Stream;

use crate::median;
use crate::program::{Program, Programs};
use crate::running::Running;

/// With five, the throughput still went from run to run by a tenth.
const ROUNDS: usize = 15;

/// How many bytes pass in a round, over all of its streams.
const BYTES: u64 = 4 << 30;

/// How many streams there are at a time.
const STREAMS: [u64; 2] = [1, 16];

/// How many connections a round opens, and how many at a time.
const CONNECTIONS: usize = 10_000;
const AT_A_TIME: usize = 100;

/// One round.
struct Round {
    wall: f64,
    processor: f64,
}

/// Measures, and prints tables.
pub(crate) fn compare(programs: &Programs) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!(
        "\n{} GiB through a mixed inbound, the median of {ROUNDS}:\n",
        BYTES >> 30
    );
    println!("| streams | | throughput | CPU per GiB |");
    println!("| --- | --- | --- | --- |");
    for streams in STREAMS {
        let pulls = |port| runtime.block_on(pull(port, streams));
        for relay in by_turns(programs, |relay| relay.round(pulls)) {
            println!(
                "| {streams} | {} | {:.2} GiB/s | {:.3} s |",
                relay.program.name(),
                (BYTES >> 30) as f64 / relay.median(|round| round.wall),
                relay.median(|round| round.processor) / (BYTES >> 30) as f64,
            );
        }
    }
    println!(
        "\n{CONNECTIONS} connections, {AT_A_TIME} at a time, each with a byte there and back, \
         the median of {ROUNDS}:\n"
    );
    println!("| | lost | a second | CPU each | resident |");
    println!("| --- | --- | --- | --- | --- |");
    let knocks = |relay: &mut Relay| {
        let mut lost = 0;
        relay.round(|port| lost = runtime.block_on(knock(port)));
        relay.lost += lost;
    };
    for relay in by_turns(programs, knocks) {
        println!(
            "| {} | {} | {:.0} | {:.0} µs | {:.0} MiB |",
            relay.program.name(),
            relay.lost,
            CONNECTIONS as f64 / relay.median(|round| round.wall),
            relay.median(|round| round.processor) / CONNECTIONS as f64 * 1e6,
            relay.running.memory().0,
        );
    }
}

/// All programs after their rounds. They take turns, as they do in a pass of tests.
fn by_turns(programs: &Programs, mut work: impl FnMut(&mut Relay)) -> [Relay; 3] {
    let mut relays = Program::ALL.map(|program| Relay::start(programs, program));
    for _ in 0..ROUNDS {
        relays.iter_mut().for_each(&mut work);
    }
    relays
}

/// A program with a mixed inbound, and what its rounds took.
struct Relay {
    program: Program,
    running: Running,
    port: Port,
    rounds: Vec<Round>,
    lost: usize,
}

impl Relay {
    fn start(programs: &Programs, program: Program) -> Self {
        let port = Port::reserve();
        Self {
            program,
            running: program.relays(programs, port.number()),
            port,
            rounds: Vec::new(),
            lost: 0,
        }
    }

    fn round(&mut self, work: impl FnOnce(u16)) {
        let (processor, since) = (self.running.settled(), Instant::now());
        work(self.port.number());
        let wall = since.elapsed().as_secs_f64();
        let processor = self.running.settled() - processor;
        self.rounds.push(Round { wall, processor });
    }

    fn median(&self, figure: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(figure).collect())
    }
}

/// Reads all the bytes, by so many streams.
async fn pull(proxy: u16, streams: u64) {
    let source = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let target = source.local_addr().expect("a port");
    let each = BYTES / streams;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = source.accept().await {
            tokio::spawn(async move {
                let piece = vec![0; 256 << 10];
                for _ in 0..each / piece.len() as u64 {
                    if stream.write_all(&piece).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    let mut pulls = JoinSet::new();
    for _ in 0..streams {
        pulls.spawn(async move {
            let mut stream = through(proxy, target).await;
            let mut buffer = vec![0; 256 << 10];
            let mut read = 0;
            while read < each {
                match stream.read(&mut buffer).await.expect("bytes") {
                    0 => break,
                    length => read += length as u64,
                }
            }
            assert_eq!(read, each);
        });
    }
    pulls.join_all().await;
}

/// Opens all the connections; gives how many were lost.
async fn knock(proxy: u16) -> usize {
    let echo = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let target = echo.local_addr().expect("a port");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = echo.accept().await {
            tokio::spawn(async move {
                let mut byte = [0];
                while stream.read_exact(&mut byte).await.is_ok() {
                    if stream.write_all(&byte).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    let opened = Arc::new(AtomicUsize::new(0));
    let lost = Arc::new(AtomicUsize::new(0));
    let mut visitors = JoinSet::new();
    for _ in 0..AT_A_TIME {
        let (opened, lost) = (opened.clone(), lost.clone());
        visitors.spawn(async move {
            while opened.fetch_add(1, Relaxed) < CONNECTIONS {
                if visit(proxy, target).await.is_none() {
                    lost.fetch_add(1, Relaxed);
                }
            }
        });
    }
    visitors.join_all().await;
    lost.load(Relaxed)
}

/// A connection with a byte there and back.
async fn visit(proxy: u16, target: SocketAddr) -> Option<()> {
    let mut stream = Socks5Stream::connect(("127.0.0.1", proxy), target)
        .await
        .ok()?;
    stream.write_all(&[7]).await.ok()?;
    (stream.read_u8().await.ok()? == 7).then_some(())
}

async fn through(proxy: u16, target: SocketAddr) -> TcpStream {
    let stream = Socks5Stream::connect(("127.0.0.1", proxy), target).await;
    stream.expect("a way through the proxy").into_inner()
}
