//! Streams through every protocol and transport of a real sing-box, beyond what HTTP
//! asks of them.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use outwatch::{Host, Io, NativeCore, ProxyCore as _, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};

use super::all::All;

const PATIENCE: Duration = Duration::from_secs(30);

/// A server that treats each connection so; where it listens.
async fn server<F>(treat: impl Fn(TcpStream) -> F + Send + 'static) -> Target
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("a free port");
    let port = listener.local_addr().expect("a bound listener").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(treat(stream));
        }
    });
    Target {
        host: Host::Ip(IpAddr::from(Ipv4Addr::LOCALHOST)),
        port,
        family: None,
    }
}

async fn dial(core: &NativeCore, tag: &str, target: &Target) -> Box<dyn Io> {
    let dialed = core.dial(tag, target, Instant::now() + PATIENCE).await;
    dialed
        .unwrap_or_else(|error| panic!("{tag}: {error:?}"))
        .stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_speaks_first_is_heard_through_every_protocol() {
    let all = All::start();
    let target = server(|mut stream| async move {
        stream.write_all(b"220 hello\r\n").await.unwrap();
        let mut answer = [0; 4];
        if stream.read_exact(&mut answer).await.is_ok() {
            stream.write_all(&answer).await.unwrap();
        }
    })
    .await;
    let core = all.core();
    for tag in all.tags() {
        let mut stream = dial(&core, tag, &target).await;
        let talk = async {
            let mut banner = [0; 11];
            stream.read_exact(&mut banner).await.unwrap();
            assert_eq!(&banner, b"220 hello\r\n", "{tag}");
            stream.write_all(b"EHLO").await.unwrap();
            stream.flush().await.unwrap();
            let mut echo = [0; 4];
            stream.read_exact(&mut echo).await.unwrap();
            assert_eq!(&echo, b"EHLO", "{tag}");
        };
        timeout(PATIENCE, talk).await.expect(tag);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_megabyte_goes_and_comes_back_through_every_protocol() {
    let all = All::start();
    let target = server(|stream| async move {
        let (mut read, mut write) = split(stream);
        copy(&mut read, &mut write).await.ok();
    })
    .await;
    let core = all.core();
    let sent: Vec<u8> = (0..1_000_003_u32)
        .flat_map(u32::to_be_bytes)
        .take(1_000_003)
        .collect();
    for tag in all.tags() {
        let (mut read, mut write) = split(dial(&core, tag, &target).await);
        let mut received = vec![0; sent.len()];
        let both = async {
            tokio::join!(
                async {
                    write.write_all(&sent).await.unwrap();
                    write.flush().await.unwrap();
                },
                async { read.read_exact(&mut received).await.unwrap() },
            )
        };
        timeout(PATIENCE, both).await.expect(tag);
        assert!(received == sent, "{tag}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_still_comes_after_the_last_byte_was_sent() {
    let all = All::start();
    let target = server(|mut stream| async move {
        let mut question = [0; 8];
        if stream.read_exact(&mut question).await.is_ok() {
            tokio::task::yield_now().await;
            stream.write_all(b"the answer").await.ok();
        }
    })
    .await;
    let core = all.core();
    for tag in all.tags() {
        let mut stream = dial(&core, tag, &target).await;
        let talk = async {
            stream.write_all(b"question").await.unwrap();
            stream.shutdown().await.unwrap();
            let mut answer = [0; 10];
            stream.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer, b"the answer", "{tag}");
        };
        timeout(PATIENCE, talk).await.expect(tag);
    }
}
