//! What a host declares of its proxy core: callbacks, and what they are given. It must not
//! call any of them.

use std::ffi::{c_char, c_void};
use std::ptr;

use crate::border::{self, Code, Failed};

/// A proxy core: what the library asks of the host.
///
/// Every function is called on the library's one thread, with `context` first, and must
/// return at once: `list`, `selected` and `status` answer before they return, `dial` and
/// `fetch` by a later call, from any thread. None of them may throw or unwind. What they
/// are given is the library's and stays until they return.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Core {
    /// The host's own; only handed on.
    pub context: *mut c_void,
    /// Every outbound, endpoint and group, in the order of the config, by one call of
    /// `outwatch_answer` with JSON text. An entry has `tag` and `type`, and may have `kind`
    /// (`outbound`, which is the default; `endpoint`; `group`; `untestable`), `detour` (the
    /// tag that it dials through), `members` (a group's tags), `networks` (of `tcp` and
    /// `udp`; the default is `["tcp"]`), `fingerprint` (stands for its server: saved results
    /// are taken over while it is equal; at most 128 bytes), and `exit_follows_host` (it
    /// leaves with the address of the host's own network). Must not be NULL.
    pub list: Option<unsafe extern "C" fn(context: *mut c_void, answer: *mut Answer)>,
    /// The member that a group leads to now for a network (`OUTWATCH_TCP`, `OUTWATCH_UDP`),
    /// by `outwatch_answer`; without that call it has not chosen. NULL: no group has chosen.
    pub selected: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            group: *const c_char,
            network: u32,
            answer: *mut Answer,
        ),
    >,
    /// Whether an outbound can be tested now: returns `OUTWATCH_READY`,
    /// `OUTWATCH_NOT_READY` or `OUTWATCH_UNSUPPORTED`. Of the latter two,
    /// `outwatch_answer` says why, for people. NULL: always ready.
    pub status: Option<
        unsafe extern "C" fn(context: *mut c_void, tag: *const c_char, answer: *mut Answer) -> u32,
    >,
    /// Opens a TCP stream through an outbound and through no other, and answers by
    /// `outwatch_connected` or `outwatch_failed`. NULL in a core that fetches.
    pub dial: Option<unsafe extern "C" fn(context: *mut c_void, exchange: u64, dial: *const Dial)>,
    /// Does one HTTP exchange through an outbound and through no other, and answers by
    /// `outwatch_fetched` or `outwatch_failed`. NULL: the library does TLS and HTTP over
    /// what `dial` opens.
    pub fetch:
        Option<unsafe extern "C" fn(context: *mut c_void, exchange: u64, request: *const Request)>,
    /// Nobody waits for an exchange any more: whatever was opened for it should be closed.
    /// It needs no answer now; one that comes all the same is harmless. May be NULL.
    pub cancel: Option<unsafe extern "C" fn(context: *mut c_void, exchange: u64)>,
    /// The last call of all, after `outwatch_free`: `context` is not used any more. May be
    /// NULL.
    pub released: Option<unsafe extern "C" fn(context: *mut c_void)>,
}

/// Where to dial.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dial {
    /// Through which outbound.
    pub tag: *const c_char,
    /// A name, to be resolved as far away as the outbound allows, or an address.
    pub host: *const c_char,
    /// TCP port.
    pub port: u16,
    /// Only addresses of this family are to be dialed: 4, 6, or 0 for any.
    pub family: u32,
    /// Milliseconds after which nobody waits any more.
    pub deadline_ms: u32,
}

/// One HTTP exchange: no redirect is followed, no connection reused, no cookie sent.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Through which outbound.
    pub tag: *const c_char,
    /// Absolute, `http` or `https`.
    pub url: *const c_char,
    /// The method's name, such as `HEAD`.
    pub method: *const c_char,
    /// To be sent as given, besides `host` and `connection`.
    pub headers: *const Header,
    /// How many there are.
    pub header_count: usize,
    /// Lower-case names of the response headers wanted.
    pub wanted: *const *const c_char,
    /// How many there are.
    pub wanted_count: usize,
    /// Bytes of body after which reading stops.
    pub body_limit: u32,
    /// To be sent twice on one connection, and the second timed too (`repeat_us`).
    pub repeat: bool,
    /// Only addresses of this family are to be dialed: 4, 6, or 0 for any.
    pub family: u32,
    /// Milliseconds after which nobody waits any more.
    pub deadline_ms: u32,
}

/// One header of a request or a response.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Its name.
    pub name: *const c_char,
    /// Its value.
    pub value: *const c_char,
}

/// `selected`: streams.
pub const OUTWATCH_TCP: u32 = 0;
/// `selected`: datagrams.
pub const OUTWATCH_UDP: u32 = 1;

/// `status`: it can be tested.
pub const OUTWATCH_READY: u32 = 0;
/// `status`: not yet.
pub const OUTWATCH_NOT_READY: u32 = 1;
/// `status`: not ever, in this core.
pub const OUTWATCH_UNSUPPORTED: u32 = 2;

/// Takes the text that a callback answers with. It is only there within the callback.
#[derive(Debug, Default)]
pub struct Answer {
    text: Option<Result<String, String>>,
}

impl Answer {
    /// The text; none if the host did not give one.
    pub(crate) fn taken(self) -> Result<Option<String>, String> {
        self.text.transpose()
    }
}

/// Answers `list`, `selected` or `status`. The text is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outwatch_answer(answer: *mut Answer, text: *const c_char) -> Code {
    let take = || {
        // SAFETY: it is NULL or what the library gave the callback that calls this.
        let answer = unsafe { answer.as_mut() };
        let answer = answer.ok_or_else(|| Failed::argument("`answer` is NULL"))?;
        // SAFETY: C gave it to this call.
        let text = unsafe { border::text(text, "text") };
        let kept = text.as_ref().map(|&text| text.to_owned());
        answer.text = Some(kept.map_err(|failed| failed.text.clone()));
        text.map(drop)
    };
    // SAFETY: no message is wanted.
    unsafe { border::cross(ptr::null_mut(), take) }
}
