//! Exchanges that a host was asked for and has not answered yet. Each has a number, so
//! that an answer too many or too late is harmless. It must not know what asks for them.

use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use outwatch::{Cause, FetchError, Phase, Response, Timing};
use socket2::Socket;
use tokio::sync::oneshot;

use crate::border::{self, Code, Failed, Outcome};
use crate::core::Header;

/// The answer to an HTTP exchange.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// The headers that were wanted, names in lower case. NULL if there is none.
    pub headers: *const Header,
    /// How many there are.
    pub header_count: usize,
    /// The body, up to the limit that the request sets. NULL if it is empty.
    pub body: *const u8,
    /// Its length in bytes.
    pub body_length: usize,
    /// Microseconds that resolving the name took; 0 if not known.
    pub dns_us: u64,
    /// Microseconds from the start until the stream was open; 0 if not known.
    pub dial_us: u64,
    /// Microseconds of the TLS handshake; 0 if there was none.
    pub tls_us: u64,
    /// Microseconds from before the dial until the response headers: the delay. 0 has the
    /// library take the time from its request to this answer.
    pub first_byte_us: u64,
    /// Microseconds from the start until the body was read; 0 if not known.
    pub total_us: u64,
    /// Microseconds of the second round trip on the same connection; 0 if there was none.
    pub repeat_us: u64,
}

type Answer<T> = Result<T, FetchError>;

/// Whom the answer is for.
enum Waiting {
    Dial(oneshot::Sender<Answer<Socket>>),
    Fetch(oneshot::Sender<Answer<Response>>),
}

/// All of this process, so that an answer needs no handle that may be gone.
static WAITING: LazyLock<Mutex<HashMap<u64, Waiting>>> = LazyLock::new(Mutex::default);

fn waiting() -> MutexGuard<'static, HashMap<u64, Waiting>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One exchange that is waited for.
pub(crate) struct Exchange<T> {
    id: u64,
    answer: oneshot::Receiver<Answer<T>>,
}

impl Exchange<Socket> {
    pub(crate) fn dial() -> Self {
        Self::open(Waiting::Dial)
    }
}

impl Exchange<Response> {
    pub(crate) fn fetch() -> Self {
        Self::open(Waiting::Fetch)
    }
}

impl<T> Exchange<T> {
    fn open(waits: fn(oneshot::Sender<Answer<T>>) -> Waiting) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        waiting().insert(id, waits(sender));
        Self { id, answer }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the answer; none if the exchange was closed.
    pub(crate) async fn answer(&mut self) -> Option<Answer<T>> {
        (&mut self.answer).await.ok()
    }

    /// Waits no longer. Whether it was still open, so that the host is to hear of it.
    pub(crate) fn close(&self) -> bool {
        waiting().remove(&self.id).is_some()
    }
}

/// Answers a dial with a connected stream socket: TCP, or one end of a Unix socket pair
/// for a core whose streams are no sockets.
///
/// **The descriptor is the library's from this call on, whatever it returns**: it reads,
/// writes and closes it.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_connected(exchange: u64, socket: c_int) -> Code {
    use std::os::fd::{FromRawFd as _, OwnedFd};

    let answer = || {
        if socket < 0 {
            return Err(Failed::argument("`socket` is no descriptor"));
        }
        // SAFETY: the caller hands over an open descriptor, which nobody else closes.
        let socket = Socket::from(unsafe { OwnedFd::from_raw_fd(socket) });
        let mut waiting = waiting();
        match waiting.remove(&exchange) {
            Some(Waiting::Dial(waits)) => given(waits.send(Ok(socket))),
            Some(fetch @ Waiting::Fetch(_)) => {
                waiting.insert(exchange, fetch);
                Err(Failed::argument("a fetch is not answered by a socket"))
            }
            None => Err(not_waiting()),
        }
    };
    // SAFETY: no message is wanted.
    unsafe { border::cross(ptr::null_mut(), answer) }
}

/// Answers a fetch with a response. All is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_fetched(exchange: u64, response: *const Fetched) -> Code {
    let answer = || {
        // SAFETY: C gave it to this call.
        let response = unsafe { border::thing(response, "response") }?;
        // SAFETY: as above.
        let response = unsafe { response.read() }?;
        let mut waiting = waiting();
        match waiting.remove(&exchange) {
            Some(Waiting::Fetch(waits)) => given(waits.send(Ok(response))),
            Some(dial @ Waiting::Dial(_)) => {
                waiting.insert(exchange, dial);
                Err(Failed::argument("a dial is not answered by a response"))
            }
            None => Err(not_waiting()),
        }
    };
    // SAFETY: no message is wanted.
    unsafe { border::cross(ptr::null_mut(), answer) }
}

/// Answers a dial or a fetch with an error.
///
/// `kind` is the name that reports show: `dial_refused`, `dial_timeout`, `dns_fail`,
/// `dns_timeout`, `no_route`, `proxy_auth`, `proxy_handshake`, `tls_fail`, `tls_cert`,
/// `http_malformed`, `eof`, `reset`, `timeout`, `unsupported`; anything else is `other`.
/// `text` is for people: what was tried, with whom, what came back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_failed(
    exchange: u64,
    kind: *const c_char,
    text: *const c_char,
) -> Code {
    let answer = || {
        // SAFETY: C gave it to this call.
        let kind = unsafe { border::text(kind, "kind") }?;
        // SAFETY: as above.
        let text = unsafe { border::text(text, "text") }?;
        let waits = waiting().remove(&exchange).ok_or_else(not_waiting)?;
        match waits {
            Waiting::Dial(waits) => given(waits.send(Err(error(kind, text, Phase::Proxy)))),
            Waiting::Fetch(waits) => given(waits.send(Err(error(kind, text, Phase::Http)))),
        }
    };
    // SAFETY: no message is wanted.
    unsafe { border::cross(ptr::null_mut(), answer) }
}

/// What was sent to one who does not wait any more comes back.
fn given<T>(sent: Result<(), T>) -> Outcome {
    sent.map_err(|_| not_waiting())
}

fn not_waiting() -> Failed {
    Failed::new(Code::NotWaiting, "nobody waits for this exchange")
}

/// An error of this kind. Where its kind does not say where it was, it was `late`.
fn error(kind: &str, text: &str, late: Phase) -> FetchError {
    let (phase, cause) = match kind {
        "dial_refused" => (Phase::Dial, Cause::Refused),
        "dial_timeout" => (Phase::Dial, Cause::DialTimeout),
        "dns_fail" => (Phase::Dial, Cause::DnsFailed),
        "dns_timeout" => (Phase::Dial, Cause::DnsTimeout),
        "no_route" => (Phase::Dial, Cause::NoRoute),
        "proxy_auth" => (Phase::Proxy, Cause::ProxyAuth),
        "proxy_handshake" => (Phase::Proxy, Cause::ProxyHandshake),
        "tls_fail" => (Phase::Tls, Cause::TlsFailed),
        "tls_cert" => (Phase::Tls, Cause::TlsCertificate),
        "http_malformed" => (Phase::Http, Cause::HttpMalformed),
        "eof" => (late, Cause::Eof),
        "reset" => (late, Cause::Reset),
        "timeout" => (late, Cause::Timeout),
        "unsupported" => (Phase::Dial, Cause::Unsupported),
        _ => (Phase::Dial, Cause::Other),
    };
    FetchError::new(phase, cause, text)
}

impl Fetched {
    unsafe fn read(&self) -> Outcome<Response> {
        // SAFETY: the caller passes on what C gave.
        let headers = unsafe { border::array(self.headers, self.header_count, "headers") }?;
        // SAFETY: as above.
        let body = unsafe { border::array(self.body, self.body_length, "body") }?;
        let mut pairs = Vec::with_capacity(headers.len());
        for header in headers {
            // SAFETY: as above.
            let name = unsafe { border::text(header.name, "headers.name") }?;
            // SAFETY: as above.
            let value = unsafe { border::text(header.value, "headers.value") }?;
            pairs.push((name.to_owned(), value.to_owned()));
        }
        Ok(Response {
            status: self.status,
            headers: pairs,
            body: body.to_vec(),
            timing: Timing {
                dns: known(self.dns_us),
                dial: Duration::from_micros(self.dial_us),
                tls: known(self.tls_us),
                first_byte: Duration::from_micros(self.first_byte_us),
                total: Duration::from_micros(self.total_us),
                repeat: known(self.repeat_us),
            },
        })
    }
}

fn known(micros: u64) -> Option<Duration> {
    (micros > 0).then(|| Duration::from_micros(micros))
}
