//! A request by HEAD: its response has no body, so that a head each way is all of HTTP/1.1
//! that it takes, and a URL test costs half of what it costs with a client for everything.
//! It must not know how the stream was opened.

use std::io;
use std::mem::MaybeUninit;

use bytes::Bytes;
use http::Request as Head;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout_at};

use super::Fetch;
use super::exchange::{HEAD_LIMIT, timeout};
use super::failure::{closed_early, malformed, of_io, too_large};
use crate::proxy_core::{FetchError, Io, Phase, Request, Response, Timing};

/// Most header lines of a response.
const HEADER_LINES: usize = 100;

/// What is read at once, in bytes: most heads fit.
const PIECE: usize = 1024;

/// The request's head as it is sent.
pub(super) fn written<B>(head: &Head<B>) -> Bytes {
    let mut wire = format!("{} {} HTTP/1.1\r\n", head.method(), head.uri()).into_bytes();
    for (name, value) in head.headers() {
        // As browsers write them: some servers and proxies know no other spelling.
        let mut start = true;
        for letter in name.as_str().bytes() {
            wire.push(if start {
                letter.to_ascii_uppercase()
            } else {
                letter
            });
            start = letter == b'-';
        }
        wire.extend_from_slice(b": ");
        wire.extend_from_slice(value.as_bytes());
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b"\r\n");
    wire.into()
}

/// Sends `wire`, the planned head, and reads the one that comes back; again if asked.
pub(super) async fn exchange<S: Io>(
    mut stream: S,
    wire: &[u8],
    fetch: &Fetch<'_>,
    mut timing: Timing,
) -> Result<Response, FetchError> {
    let (request, deadline) = (fetch.request, fetch.deadline);
    let target = fetch.target();
    let mut unread = Vec::with_capacity(PIECE);
    let first = timeout_at(
        deadline,
        round_trip(&mut stream, wire, &mut unread, request),
    );
    let (status, headers) = match first.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(trouble)) => return Err(trouble.with(&target.to_string())),
        Err(_) => return Err(timeout(target)),
    };
    timing.first_byte = fetch.start.elapsed();
    timing.total = timing.first_byte;
    // What comes after the head should not be there: no second one can be told from it.
    if request.repeat && unread.is_empty() {
        let sent = Instant::now();
        let second = round_trip(&mut stream, wire, &mut unread, request);
        // T-3: a second round trip that fails or is late takes nothing away.
        if let Ok(Ok(_)) = timeout_at(deadline, second).await {
            timing.repeat = Some(sent.elapsed());
        }
    }
    Ok(Response {
        status,
        headers,
        body: Vec::new(),
        timing,
    })
}

type Answer = (u16, Vec<(String, String)>);

/// Leaves in `unread` what came after the answer.
async fn round_trip<S: Io>(
    stream: &mut S,
    wire: &[u8],
    unread: &mut Vec<u8>,
    request: &Request,
) -> Result<Answer, Trouble> {
    stream.write_all(wire).await?;
    stream.flush().await?;
    let mut seen = 0;
    loop {
        // A long head that drips is parsed when it may be whole, not for each drop.
        let may_be_whole = match unread.len() {
            0 => false,
            length => length <= PIECE || may_end(unread, seen),
        };
        if may_be_whole && let Some((answer, length)) = parse(unread, request)? {
            unread.drain(..length);
            seen = 0;
            if answer.0 >= 200 || answer.0 == SWITCHING_PROTOCOLS {
                return Ok(answer);
            }
            // An interim answer, such as 103: another follows.
            continue;
        }
        seen = unread.len();
        if seen >= HEAD_LIMIT {
            return Err(Trouble::TooLarge);
        }
        unread.reserve(PIECE);
        if stream.read_buf(unread).await? == 0 {
            return Err(Trouble::Closed);
        }
    }
}

const SWITCHING_PROTOCOLS: u16 = 101;

/// Whether a line ended after the first `seen` bytes, and an empty one after it.
fn may_end(unread: &[u8], seen: usize) -> bool {
    let fresh = unread.get(seen.saturating_sub(2)..).unwrap_or_default();
    let mut breaks = (0..fresh.len()).filter(|&at| fresh[at] == b'\n');
    breaks.any(|at| {
        let line = &fresh[at + 1..];
        line.starts_with(b"\n") || line.starts_with(b"\r\n")
    })
}

/// The answer and the length of its head; none while that is not whole.
fn parse(unread: &[u8], request: &Request) -> Result<Option<(Answer, usize)>, Trouble> {
    // Room that is not filled first: it takes longer than all the rest.
    let mut lines = [const { MaybeUninit::uninit() }; HEADER_LINES];
    let mut head = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default()
        .parse_response_with_uninit_headers(&mut head, unread, &mut lines);
    let httparse::Status::Complete(length) = parsed? else {
        return Ok(None);
    };
    let wanted = |name: &str| {
        let mut names = request.response_headers.iter();
        names.find(|wanted| wanted.eq_ignore_ascii_case(name))
    };
    let headers = head.headers.iter().filter_map(|line| {
        let value = String::from_utf8_lossy(line.value).into_owned();
        Some((wanted(line.name)?.clone(), value))
    });
    let answer = (head.code.unwrap_or_default(), headers.collect());
    Ok(Some((answer, length)))
}

/// What goes wrong with an answer.
enum Trouble {
    Stream(io::Error),
    Closed,
    TooLarge,
    NotHttp(httparse::Error),
}

impl Trouble {
    fn with(self, peer: &str) -> FetchError {
        match self {
            Self::Stream(error) => of_io(Phase::Http, peer, &error),
            Self::Closed => closed_early(Phase::Http, peer),
            Self::TooLarge | Self::NotHttp(httparse::Error::TooManyHeaders) => {
                too_large(Phase::Http, peer)
            }
            Self::NotHttp(error) => malformed(Phase::Http, peer, &error),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

impl From<httparse::Error> for Trouble {
    fn from(error: httparse::Error) -> Self {
        Self::NotHttp(error)
    }
}
