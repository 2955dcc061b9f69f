//! One dial through sing-box: as the user that is led to the outbound, and with the
//! log's words where it fails. It must not know how sing-box is kept running.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_socks::tcp::Socks5Stream;
use tokio_socks::{Error, TargetAddr};

use super::cause;
use super::child_config::user;
use super::log_line;
use super::state::{Live, Now, Shared};
use crate::config::Entry;
use crate::proxy_core::{Cause, Dialed, Family, FetchError, Host, Phase, Target};

/// How long the log may take to say why a dial failed.
const WORDS_WITHIN: Duration = Duration::from_millis(500);

/// Longest name that fits the protocol (RFC 1928).
const NAME_LIMIT: usize = 255;

/// Opens a stream. While sing-box is down it waits, and so it does when sing-box ends in
/// the middle: that is no fault of the outbound.
pub(super) async fn dial(
    shared: &Shared,
    tag: &str,
    target: &Target,
    deadline: Instant,
) -> Result<Dialed, FetchError> {
    let mut last: Option<Arc<Live>> = None;
    find(&shared.now(), shared, tag)?;
    loop {
        let (now, live) = shared
            .up(last.as_ref(), deadline)
            .await
            .map_err(|why| FetchError::new(Phase::Dial, Cause::Other, why))?;
        let (index, entry) = find(&now, shared, tag)?;
        if now.outbounds.goes_through_group(&entry.tag) {
            shared.selections_heard(deadline).await;
        }
        let user = user(index);
        let attempt = Attempt {
            live: &live,
            entry,
            target,
            user: &user,
            begun: Instant::now(),
        };
        match timeout_at(deadline, attempt.open(deadline)).await {
            Ok(Ok(dialed)) => return Ok(dialed),
            Ok(Err(Fault::Outbound(error))) => return Err(error),
            Ok(Err(Fault::SingBox(error))) => {
                if live.is_there().await {
                    return Err(error);
                }
                last = Some(live);
            }
            Err(_) => return Err(attempt.late()),
        }
    }
}

/// The outbound that `tag` leads to, if sing-box has it.
fn find<'a>(now: &'a Now, shared: &Shared, tag: &'a str) -> Result<(usize, &'a Entry), FetchError> {
    if now.outbounds.find(tag).is_none() {
        return Err(unsupported(format!("there is no outbound `{tag}`")));
    }
    let Some((index, entry)) = now.outbounds.leaf(tag, &shared.selections) else {
        return Err(unsupported(format!("`{tag}` leads to no outbound")));
    };
    match now.outbounds.why_left_out(index) {
        Some(why) => Err(unsupported(format!(
            "`{}` cannot be dialed: {why}",
            entry.tag
        ))),
        None => Ok((index, entry)),
    }
}

/// Whose fault it is that there is no stream.
enum Fault {
    Outbound(FetchError),
    /// It spoke otherwise than it should, or not at all.
    SingBox(FetchError),
}

struct Attempt<'a> {
    live: &'a Live,
    entry: &'a Entry,
    target: &'a Target,
    user: &'a str,
    begun: Instant,
}

impl Attempt<'_> {
    async fn open(&self, deadline: Instant) -> Result<Dialed, Fault> {
        let (wanted, dns) = self.wanted().await.map_err(Fault::Outbound)?;
        let lost = |error: std::io::Error| {
            let text = format!("talking with sing-box failed: {error}");
            Fault::SingBox(FetchError::new(Phase::Dial, Cause::Other, text))
        };
        let stream = TcpStream::connect(self.live.socks).await.map_err(lost)?;
        // It only costs time where it cannot be set.
        let _ = stream.set_nodelay(true);
        let port = stream.local_addr().map_err(lost)?.port();
        let password = &self.live.password;
        let opened =
            Socks5Stream::connect_with_password_and_socket(stream, wanted, self.user, password)
                .await;
        match opened {
            Ok(stream) => {
                self.live.journal.works(&self.entry.tag);
                Ok(Dialed {
                    stream: Box::new(stream.into_inner()),
                    dns,
                })
            }
            Err(Error::Io(error)) => Err(lost(error)),
            // Somebody else listens there now.
            Err(error @ (Error::PasswordAuthFailure(_) | Error::NoAcceptableAuthMethods)) => {
                Err(lost(std::io::Error::other(error)))
            }
            Err(error) => Err(Fault::Outbound(self.failure(port, &error, deadline).await)),
        }
    }

    /// What sing-box is asked for: the name itself, unless one family is wanted. Then the
    /// name is resolved by its own DNS, since SOCKS cannot say so.
    async fn wanted(&self) -> Result<(TargetAddr<'static>, Option<Duration>), FetchError> {
        let address = |ip| TargetAddr::Ip(SocketAddr::new(ip, self.target.port));
        match (&self.target.host, self.target.family) {
            (Host::Ip(ip), family) if is_of(ip, family) => Ok((address(*ip), None)),
            (Host::Ip(ip), _) => {
                let text = format!("{ip} is not of the address family asked for");
                Err(FetchError::new(Phase::Dial, Cause::NoRoute, text))
            }
            (Host::Name(name), None) if name.len() > NAME_LIMIT => {
                let text = format!("the name of {} is too long for SOCKS", self.target);
                Err(unsupported(text))
            }
            (Host::Name(name), None) => Ok((
                TargetAddr::Domain(name.clone().into(), self.target.port),
                None,
            )),
            (Host::Name(name), Some(family)) => {
                let ip = self.resolve(name, family).await?;
                Ok((address(ip), Some(self.begun.elapsed())))
            }
        }
    }

    async fn resolve(&self, name: &str, family: Family) -> Result<IpAddr, FetchError> {
        let found = match &self.live.control {
            Some(control) => control.resolve(name, family).await,
            None => tokio::net::lookup_host((name, 0))
                .await
                .map(|found| found.map(|address| address.ip()).collect()),
        };
        let failed = |text| FetchError::new(Phase::Dial, Cause::DnsFailed, text);
        let found =
            found.map_err(|error| failed(format!("`{name}` does not resolve ({error})")))?;
        found
            .into_iter()
            .find(|ip| is_of(ip, Some(family)))
            .ok_or_else(|| failed(format!("`{name}` has no address of the family asked for")))
    }

    /// What the log says of it, else what the reply says (T-10).
    async fn failure(&self, port: u16, error: &Error, deadline: Instant) -> FetchError {
        let until = deadline.min(Instant::now() + WORDS_WITHIN);
        let journal = &self.live.journal;
        let said = journal.failure(port, self.begun, until).await;
        let words = said
            .as_deref()
            .map(|said| log_line::cause(said, &self.entry.tag));
        let (phase, cause) = words
            .and_then(cause::of_words)
            .unwrap_or_else(|| cause::of_reply(error));
        let why = words.map_or_else(|| error.to_string(), str::to_owned);
        FetchError::new(phase, cause, self.text(&why))
    }

    /// The deadline passed.
    fn late(&self) -> FetchError {
        let complaint = self.live.journal.complaint(&self.entry.tag, self.begun);
        let why = complaint.unwrap_or_else(|| "it did not open in time".to_owned());
        FetchError::new(Phase::Dial, Cause::DialTimeout, self.text(&why))
    }

    fn text(&self, why: &str) -> String {
        let why = super::secrets::without(&self.entry.options, why);
        format!(
            "the connection to {} through `{}`: {why}",
            self.target, self.entry.tag
        )
    }
}

fn is_of(ip: &IpAddr, family: Option<Family>) -> bool {
    match family {
        None => true,
        Some(Family::V4) => ip.is_ipv4(),
        Some(Family::V6) => ip.is_ipv6(),
    }
}

fn unsupported(text: String) -> FetchError {
    FetchError::new(Phase::Dial, Cause::Unsupported, text)
}
