//! A stream to a proxy whose request goes out together with the first payload, as
//! trojan, VLESS and shadowsocks have it. It must not know any of those protocols.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::proxy::Proxy;
use super::way::Stream;
use crate::fetch::of_io;
use crate::proxy_core::{Cause, FetchError, Phase};

/// How long a reader waits for a first payload to send along. After that the request
/// goes out alone, since the target may be one that speaks first.
const GRACE: Duration = Duration::from_millis(100);

/// The most of a first payload that is sent along: with the request it fits one record
/// of each protocol.
const FIRST_PAYLOAD: usize = 8 * 1024;

/// Sends the request with the first payload, which may be empty.
type Open = Box<dyn FnOnce(Vec<u8>) -> BoxFuture<'static, io::Result<Stream>> + Send>;

/// A stream that is opened by its first bytes.
pub(super) struct Opening {
    peer: Peer,
    state: State,
    /// How much of the writer's bytes the opening took, until the writer is told.
    taken: Option<usize>,
    /// Something came from the proxy.
    answered: bool,
    sides: Arc<Sides>,
}

/// Who is at the other end, in words.
#[derive(Clone)]
pub(super) struct Peer {
    pub(super) proxy: Proxy,
    /// What it usually means when it ends the connection without an answer.
    pub(super) silence: &'static str,
}

enum State {
    Silent(Open, Option<Pin<Box<Sleep>>>),
    Sending(BoxFuture<'static, io::Result<Stream>>),
    Open(Stream),
    Broken,
}

impl Opening {
    /// A stream to `peer` that `open` opens when the first bytes are written, or read.
    pub(super) fn new<F>(peer: Peer, open: impl FnOnce(Vec<u8>) -> F + Send + 'static) -> Box<Self>
    where
        F: Future<Output = io::Result<Stream>> + Send + 'static,
    {
        Box::new(Self {
            peer,
            state: State::Silent(Box::new(move |first| Box::pin(open(first))), None),
            taken: None,
            answered: false,
            sides: Arc::default(),
        })
    }

    /// Starts to send the request, with what `payload` holds; does nothing if it is sent.
    fn send(&mut self, payload: &[u8]) {
        match std::mem::replace(&mut self.state, State::Broken) {
            State::Silent(open, _) => self.state = State::Sending(open(payload.to_vec())),
            state => self.state = state,
        }
    }

    /// The open stream, once the request is sent.
    fn poll_open(&mut self) -> Poll<io::Result<&mut Stream>> {
        if let State::Sending(sending) = &mut self.state {
            // Reader and writer may be two tasks: both must hear of it.
            let waker = Waker::from(Arc::clone(&self.sides));
            let sent = ready!(sending.as_mut().poll(&mut Context::from_waker(&waker)));
            self.sides.wake_by_ref();
            self.state = State::Broken;
            self.state = State::Open(sent.map_err(|error| self.peer.unanswered(&error))?);
        }
        match &mut self.state {
            State::Open(stream) => Poll::Ready(Ok(stream)),
            State::Silent(..) | State::Sending(_) => Poll::Pending,
            State::Broken => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

impl Peer {
    /// What it means that reading or writing failed before anything came from it.
    fn unanswered(&self, error: &io::Error) -> io::Error {
        let name = self.proxy.to_string();
        let told = of_io(Phase::Proxy, &name, error);
        let (cause, text) = match told.cause {
            Cause::Eof => (
                Cause::Eof,
                format!(
                    "{name} closed the connection without an answer: {}",
                    self.silence
                ),
            ),
            Cause::Reset => (
                Cause::Reset,
                format!(
                    "{name} reset the connection without an answer: {}",
                    self.silence
                ),
            ),
            Cause::Other => (
                Cause::ProxyHandshake,
                format!("{name} does not speak its protocol, or with another key ({error})"),
            ),
            _ => return io::Error::other(told),
        };
        io::Error::other(FetchError::new(Phase::Proxy, cause, text))
    }
}

impl AsyncRead for Opening {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !matches!(this.state, State::Open(_)) {
            this.sides.reader.register(cx.waker());
            if let State::Silent(_, grace) = &mut this.state {
                let grace = grace.get_or_insert_with(|| Box::pin(tokio::time::sleep(GRACE)));
                ready!(grace.as_mut().poll(cx));
                this.send(&[]);
            }
        }
        let before = buf.filled().len();
        let stream = ready!(this.poll_open())?;
        let read = ready!(Pin::new(stream).poll_read(cx, buf));
        if this.answered {
            return Poll::Ready(read);
        }
        let read = match read {
            Ok(()) if buf.filled().len() > before || buf.remaining() == 0 => {
                this.answered = true;
                Ok(())
            }
            Ok(()) => Err(this.peer.unanswered(&io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(this.peer.unanswered(&error)),
        };
        Poll::Ready(read)
    }
}

impl AsyncWrite for Opening {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if !matches!(this.state, State::Open(_)) {
            this.sides.writer.register(cx.waker());
            if matches!(this.state, State::Silent(..)) {
                let first = buf.len().min(FIRST_PAYLOAD);
                this.send(&buf[..first]);
                this.taken = Some(first);
            }
            ready!(this.poll_open())?;
        }
        if let Some(taken) = this.taken.take() {
            return Poll::Ready(Ok(taken.min(buf.len())));
        }
        let stream = ready!(this.poll_open())?;
        Pin::new(stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if matches!(this.state, State::Silent(..)) {
            return Poll::Ready(Ok(()));
        }
        this.sides.writer.register(cx.waker());
        let stream = ready!(this.poll_open())?;
        Pin::new(stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.sides.writer.register(cx.waker());
        this.send(&[]);
        let stream = ready!(this.poll_open())?;
        Pin::new(stream).poll_shutdown(cx)
    }
}

/// Whoever waits for the opening.
#[derive(Default)]
struct Sides {
    reader: AtomicWaker,
    writer: AtomicWaker,
}

impl Wake for Sides {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.reader.wake();
        self.writer.wake();
    }
}
