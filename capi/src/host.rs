//! The host's proxy core: its callbacks in C as a [`ProxyCore`]. It must not know the
//! monitor, nor how a host answers an exchange.

use std::ffi::{CString, c_char, c_void};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use outwatch::{
    Cause, Dialed, Family, FetchError, Io, Network, Outbound, Phase, ProxyCore, Readiness, Target,
};
use socket2::{Socket, Type};
use tokio::time::{Instant, timeout_at};

use crate::border::{Code, Failed, Outcome, c_text};
use crate::core::{
    Answer, Core, Dial, Header, OUTWATCH_NOT_READY, OUTWATCH_READY, OUTWATCH_TCP, OUTWATCH_UDP,
    OUTWATCH_UNSUPPORTED, Request,
};
use crate::exchange::Exchange;
use crate::listing;

/// The core of a host in C.
#[derive(Debug)]
pub(crate) struct HostCore {
    core: Core,
    /// The last list that could be read.
    listed: Mutex<Vec<Outbound>>,
}

// SAFETY: the interface tells the host that its context is used on the library's thread,
// which is another than the one that it was given on.
unsafe impl Send for HostCore {}
// SAFETY: as above; and the callbacks are only called on that thread.
unsafe impl Sync for HostCore {}

impl HostCore {
    pub(crate) fn new(core: Core) -> Self {
        let listed = Mutex::default();
        Self { core, listed }
    }

    /// Refuses a core that cannot work, and has it list its outbounds a first time.
    pub(crate) fn check(&self) -> Outcome {
        if self.core.dial.is_none() && self.core.fetch.is_none() {
            return Err(Failed::argument("`dial` and `fetch` are both NULL"));
        }
        #[cfg(not(feature = "fetch"))]
        if self.core.fetch.is_none() {
            return Err(Failed::not_built("fetch"));
        }
        *self.listed() = self
            .read_list()
            .map_err(|wrong| Failed::new(Code::BadOutbounds, wrong))?;
        Ok(())
    }

    fn listed(&self) -> std::sync::MutexGuard<'_, Vec<Outbound>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_list(&self) -> Result<Vec<Outbound>, String> {
        let list = self.core.list.ok_or("`list` is NULL")?;
        let text = asked(|answer| {
            // SAFETY: the host said that it can be called so.
            unsafe { list(self.core.context, answer) };
        });
        listing::read(&text?.ok_or("`list` did not call `outwatch_answer`")?)
            .map_err(|wrong| format!("the list of outbounds is wrong: {wrong}"))
    }

    /// Waits for an answer of the host; tells it when nobody waits any more.
    async fn wait<T>(
        &self,
        exchange: Exchange<T>,
        deadline: Instant,
    ) -> Option<Result<T, FetchError>> {
        let mut open = Open {
            exchange,
            core: &self.core,
        };
        timeout_at(deadline, open.exchange.answer()).await.ok()?
    }
}

impl Drop for HostCore {
    fn drop(&mut self) {
        if let Some(released) = self.core.released {
            // SAFETY: the host said that it can be called so; nothing else is called after.
            unsafe { released(self.core.context) };
        }
    }
}

#[async_trait]
impl ProxyCore for HostCore {
    fn list(&self) -> Vec<Outbound> {
        match self.read_list() {
            Ok(list) => self.listed().clone_from(&list),
            Err(wrong) => tracing::error!("{wrong}; the last one stays"),
        }
        self.listed().clone()
    }

    fn selected(&self, group: &str, network: Network) -> Option<String> {
        let selected = self.core.selected?;
        let group = c_text(group);
        let network = match network {
            Network::Tcp => OUTWATCH_TCP,
            Network::Udp => OUTWATCH_UDP,
        };
        let text = asked(|answer| {
            // SAFETY: the host said that it can be called so.
            unsafe { selected(self.core.context, group.as_ptr(), network, answer) };
        });
        text.unwrap_or_else(|wrong| {
            tracing::error!("`selected` gave no tag: {wrong}");
            None
        })
    }

    fn status(&self, tag: &str) -> Readiness {
        let Some(status) = self.core.status else {
            return Readiness::Ready;
        };
        let tag = c_text(tag);
        let mut readiness = OUTWATCH_READY;
        let text = asked(|answer| {
            // SAFETY: the host said that it can be called so.
            readiness = unsafe { status(self.core.context, tag.as_ptr(), answer) };
        });
        let text = text.unwrap_or_else(Some).unwrap_or_default();
        match readiness {
            OUTWATCH_READY => Readiness::Ready,
            OUTWATCH_NOT_READY => Readiness::NotReady(text),
            OUTWATCH_UNSUPPORTED => Readiness::Unsupported(text),
            other => Readiness::NotReady(format!("`status` returned {other}")),
        }
    }

    async fn dial(
        &self,
        tag: &str,
        target: &Target,
        deadline: Instant,
    ) -> Result<Dialed, FetchError> {
        let failed = |cause, text| Err(FetchError::new(Phase::Dial, cause, text));
        let Some(dial) = self.core.dial else {
            return failed(Cause::Unsupported, "this core opens no streams".to_owned());
        };
        let exchange = Exchange::dial();
        {
            let tag = c_text(tag);
            let host = c_text(target.host.to_string());
            let ask = Dial {
                tag: tag.as_ptr(),
                host: host.as_ptr(),
                port: target.port,
                family: family(target.family),
                deadline_ms: millis(deadline.saturating_duration_since(Instant::now())),
            };
            // SAFETY: the host said that it can be called so.
            unsafe { dial(self.core.context, exchange.id(), &raw const ask) };
        }
        let Some(answer) = self.wait(exchange, deadline).await else {
            return failed(Cause::DialTimeout, format!("no stream to {target} in time"));
        };
        match stream(answer?) {
            Ok(stream) => Ok(Dialed { stream, dns: None }),
            Err(error) => failed(Cause::Other, format!("the socket cannot be used: {error}")),
        }
    }

    async fn fetch(
        &self,
        tag: &str,
        request: &outwatch::Request,
    ) -> Result<outwatch::Response, FetchError> {
        let Some(fetch) = self.core.fetch else {
            return over_dial(self, tag, request).await;
        };
        let start = Instant::now();
        let exchange = Exchange::fetch();
        ask(fetch, self.core.context, exchange.id(), tag, request);
        let answer = self.wait(exchange, start + request.deadline).await;
        let mut response = answer.unwrap_or_else(|| {
            let text = format!("no answer to {} {} in time", request.method, request.url);
            Err(FetchError::new(Phase::Http, Cause::Timeout, text))
        })?;
        if response.timing.first_byte.is_zero() {
            response.timing.first_byte = start.elapsed();
        }
        Ok(response)
    }
}

/// The library's own TLS and HTTP.
#[cfg(feature = "fetch")]
async fn over_dial(
    core: &HostCore,
    tag: &str,
    request: &outwatch::Request,
) -> Result<outwatch::Response, FetchError> {
    let trust = outwatch::fetch::Trust::system();
    outwatch::fetch::through_dial(core, tag, request, &trust).await
}

#[cfg(not(feature = "fetch"))]
async fn over_dial(
    _: &HostCore,
    _: &str,
    _: &outwatch::Request,
) -> Result<outwatch::Response, FetchError> {
    let text = "this core does not fetch".to_owned();
    Err(FetchError::new(Phase::Dial, Cause::Unsupported, text))
}

/// Has the host do a fetch. All that points to something ends here, before any wait.
fn ask(
    fetch: unsafe extern "C" fn(*mut c_void, u64, *const Request),
    context: *mut c_void,
    exchange: u64,
    tag: &str,
    request: &outwatch::Request,
) {
    let tag = c_text(tag);
    let url = c_text(request.url.as_str());
    let method = c_text(request.method.as_str());
    let pairs = request.headers.iter();
    let pairs: Vec<(CString, CString)> = pairs
        .map(|(name, value)| (c_text(name.as_str()), c_text(value.as_str())))
        .collect();
    let headers: Vec<Header> = pairs
        .iter()
        .map(|(name, value)| Header {
            name: name.as_ptr(),
            value: value.as_ptr(),
        })
        .collect();
    let names = request.response_headers.iter();
    let names: Vec<CString> = names.map(|name| c_text(name.as_str())).collect();
    let wanted: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let ask = Request {
        tag: tag.as_ptr(),
        url: url.as_ptr(),
        method: method.as_ptr(),
        headers: headers.as_ptr(),
        header_count: headers.len(),
        wanted: wanted.as_ptr(),
        wanted_count: wanted.len(),
        body_limit: request.body_limit,
        repeat: request.repeat,
        family: family(request.family),
        deadline_ms: millis(request.deadline),
    };
    // SAFETY: the host said that it can be called so.
    unsafe { fetch(context, exchange, &raw const ask) };
}

/// An exchange that the host hears of when it is given up.
struct Open<'a, T> {
    exchange: Exchange<T>,
    core: &'a Core,
}

// SAFETY: as `HostCore`, of which it borrows.
unsafe impl<T: Send> Send for Open<'_, T> {}

impl<T> Drop for Open<'_, T> {
    fn drop(&mut self) {
        if self.exchange.close()
            && let Some(cancel) = self.core.cancel
        {
            // SAFETY: the host said that it can be called so.
            unsafe { cancel(self.core.context, self.exchange.id()) };
        }
    }
}

/// Calls back for a text; none if the host did not give one.
fn asked(call: impl FnOnce(*mut Answer)) -> Result<Option<String>, String> {
    let mut answer = Answer::default();
    call(&raw mut answer);
    answer.taken()
}

/// What leads to the target: the host's socket, or its end of a pair.
fn stream(socket: Socket) -> io::Result<Box<dyn Io>> {
    if socket.r#type()? != Type::STREAM {
        return Err(io::Error::other("it is no stream socket"));
    }
    socket.set_nonblocking(true)?;
    #[cfg(unix)]
    if socket.local_addr()?.is_unix() {
        return Ok(Box::new(tokio::net::UnixStream::from_std(socket.into())?));
    }
    Ok(Box::new(tokio::net::TcpStream::from_std(socket.into())?))
}

fn family(family: Option<Family>) -> u32 {
    match family {
        None => 0,
        Some(Family::V4) => 4,
        Some(Family::V6) => 6,
    }
}

fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
