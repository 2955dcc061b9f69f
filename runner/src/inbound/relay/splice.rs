//! Passes bytes between two sockets without taking much of it into this process. It must
//! not know which of the two is the client.
//!
//! Copying costs about three times the CPU for a gigabyte (0.30 s; 0.09 s like this).
//! The crates for it keep two pipes for every connection, and buffers for rate limits.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;

use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};
use nix::unistd::pipe2;
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::coop::consume_budget;

use crate::inbound::connections::meter::{Meter, count};

/// What most messages fit in. One that does not is taken for the start of more, for
/// which a pipe pays.
const MESSAGE: usize = 8 * 1024;

/// How much a pipe holds, if the system allows it; four times what it does by itself.
const PIPE: i32 = 256 * 1024;

/// How much a wide one holds, which takes a tenth less of the processor.
const WIDE: i32 = 1024 * 1024;

/// Places for wide ones. Linux gives a user 64 MiB of pipes, and hardly any room to those
/// beyond.
static PLACES: Semaphore = Semaphore::const_new(16);

const FLAGS: SpliceFFlags = SpliceFFlags::SPLICE_F_MOVE.union(SpliceFFlags::SPLICE_F_NONBLOCK);

/// Relays until both sides have said all, or one fails. What `one` says goes up.
pub(super) async fn relay(one: &TcpStream, other: &TcpStream, meter: &Meter) -> io::Result<()> {
    tokio::try_join!(
        one_way(one, other, &meter.up),
        one_way(other, one, &meter.down)
    )
    .map(drop)
}

async fn one_way(from: &TcpStream, to: &TcpStream, passed: &AtomicU64) -> io::Result<()> {
    if let Some(pipe) = messages(from, to, passed).await? {
        flow(from, to, &pipe, passed).await?;
    }
    match SockRef::from(to).shutdown(Shutdown::Write) {
        // It has left already.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        done => done,
    }
}

/// Passes messages on, to the end or to the first that is more than one; then with a
/// pipe for the rest. Without descriptors for a pipe, all are taken for messages.
async fn messages(
    from: &TcpStream,
    to: &TcpStream,
    passed: &AtomicU64,
) -> io::Result<Option<Pipe>> {
    let mut buffer = vec![0; MESSAGE];
    loop {
        consume_budget().await;
        from.readable().await?;
        let message = match from.try_read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(length) => buffer.get(..length).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        };
        write_all(to, message).await?;
        count(passed, message.len());
        if message.len() == MESSAGE
            && let Ok(pipe) = Pipe::open()
        {
            return Ok(Some(pipe));
        }
    }
}

async fn write_all(to: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        to.writable().await?;
        match to.try_write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Passes everything on through a pipe, to the end.
async fn flow(from: &TcpStream, to: &TcpStream, pipe: &Pipe, passed: &AtomicU64) -> io::Result<()> {
    loop {
        consume_budget().await;
        let fill = from.async_io(Interest::READABLE, || {
            let moved = splice(from, None, &pipe.write, None, pipe.size, FLAGS);
            moved.map_err(io::Error::from)
        });
        let mut held = fill.await?;
        if held == 0 {
            return Ok(());
        }
        // The pipe is empty again before it is filled, so only the socket makes us wait.
        while held > 0 {
            let moved = to.async_io(Interest::WRITABLE, || {
                let moved = splice(&pipe.read, None, to, None, held, FLAGS);
                moved.map_err(io::Error::from)
            });
            let moved = moved.await?;
            count(passed, moved);
            held = held.saturating_sub(moved);
        }
    }
}

struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
    /// How much is moved at once: as much as fits.
    size: usize,
    _place: Option<SemaphorePermit<'static>>,
}

impl Pipe {
    fn open() -> io::Result<Self> {
        let (read, write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        let place = PLACES.try_acquire().ok();
        let size = if place.is_some() { WIDE } else { PIPE };
        // One user's pipes may not hold all too much; a smaller one does as well.
        let _ = fcntl(&write, FcntlArg::F_SETPIPE_SZ(size));
        Ok(Self {
            read,
            write,
            size: usize::try_from(size).unwrap_or(MESSAGE),
            _place: place,
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Two ends of one connection.
    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (near, far) = tokio::join!(TcpStream::connect(address), listener.accept());
        (near.unwrap(), far.unwrap().0)
    }

    #[tokio::test]
    async fn messages_and_floods_arrive_whole_and_each_side_ends_by_itself() {
        let ((mut client, one), (other, mut server)) = (pair().await, pair().await);
        let relay =
            tokio::spawn(async move { super::relay(&one, &other, &Meter::default()).await });
        client.write_all(b"a message").await.unwrap();
        let mut heard = [0; 9];
        server.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"a message");

        let flood: Vec<u8> = (0..5 * WIDE).map(|n| (n / 3 % 251) as u8).collect();
        let (mut upwards, mut downwards) = (Vec::new(), Vec::new());
        let asks = async {
            client.write_all(&flood).await.unwrap();
            client.shutdown().await.unwrap();
            client.read_to_end(&mut downwards).await.unwrap();
        };
        let answers = async {
            server.read_to_end(&mut upwards).await.unwrap();
            server.write_all(b"all of it").await.unwrap();
            server.shutdown().await.unwrap();
        };
        tokio::join!(asks, answers);
        assert!(upwards == flood, "{} of {}", upwards.len(), flood.len());
        assert_eq!(downwards, b"all of it");
        relay.await.unwrap().unwrap();
    }

    #[test]
    fn the_first_floods_get_wide_pipes_and_leave_their_places_to_others() {
        let is_wide = |pipe: &Pipe| pipe.size == usize::try_from(WIDE).unwrap();
        let pipes: Vec<Pipe> = (0..20).map(|_| Pipe::open().unwrap()).collect();
        let wide = pipes.iter().filter(|pipe| is_wide(pipe)).count();
        assert!((1..=16).contains(&wide), "{wide}");
        drop(pipes);
        assert!(is_wide(&Pipe::open().unwrap()));
    }
}
