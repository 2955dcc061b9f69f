//! A proxy core that only pretends: every outbound answers as the test says, on
//! tokio's clock, and every fetch is written down. It must not open a socket.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use outwatch::{
    Cause, Dialed, FetchError, Network, Outbound, Phase, ProxyCore, Readiness, Request, Response,
    SelectError, Target, Timing,
};
use tokio::time::Instant;

/// How an outbound answers.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// A response with this status after this time.
    Answers(Duration, u16),
    /// An error after this time.
    Fails(Duration, Phase, Cause),
    /// Nothing until the deadline, then a timeout.
    Silent,
    /// Nothing ever, not even at the deadline.
    Stuck,
}

/// Answers with 204 after so many milliseconds.
pub fn answers(ms: u64) -> Behaviour {
    Behaviour::Answers(Duration::from_millis(ms), 204)
}

/// Is refused after so many milliseconds.
pub fn refuses(ms: u64) -> Behaviour {
    Behaviour::Fails(Duration::from_millis(ms), Phase::Dial, Cause::Refused)
}

/// One fetch that the core was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Since the core was made.
    pub at: Duration,
    /// Through which outbound.
    pub tag: String,
    /// `HEAD` for URL tests, `GET` for IP lookups.
    pub method: String,
    /// Of what.
    pub url: String,
}

/// A stub core; clones share one state.
#[derive(Clone)]
pub struct Stub {
    state: Arc<Mutex<State>>,
    began: Instant,
}

#[derive(Default)]
struct State {
    outbounds: Vec<Outbound>,
    behaviours: BTreeMap<String, Behaviour>,
    /// The body that IP services answer with through an outbound.
    ips: BTreeMap<String, String>,
    selected: BTreeMap<String, String>,
    statuses: BTreeMap<String, Readiness>,
    fetches: Vec<Fetch>,
    in_flight: usize,
    most_in_flight: usize,
    dropped: usize,
}

impl Default for Stub {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            began: Instant::now(),
        }
    }
}

impl Stub {
    /// A core with these outbounds, which answer so.
    pub fn with<T: Into<String>>(outbounds: impl IntoIterator<Item = (T, Behaviour)>) -> Self {
        let stub = Self::default();
        for (tag, behaviour) in outbounds {
            stub.add(Outbound::new(tag, "stub"), behaviour);
        }
        stub
    }

    /// One more outbound.
    pub fn add(&self, outbound: Outbound, behaviour: Behaviour) {
        let mut state = self.state();
        state.behaviours.insert(outbound.tag.clone(), behaviour);
        state.outbounds.push(outbound);
    }

    /// One more group, which selects a member or none.
    pub fn add_group(&self, tag: &str, members: &[&str], selected: Option<&str>) {
        let mut state = self.state();
        state
            .outbounds
            .push(Outbound::group(tag, "selector", members.iter().copied()));
        if let Some(member) = selected {
            state.selected.insert(tag.to_owned(), member.to_owned());
        }
    }

    /// One outbound or group less.
    pub fn remove(&self, tag: &str) {
        self.state()
            .outbounds
            .retain(|outbound| outbound.tag != tag);
    }

    /// From now on an outbound answers so.
    pub fn set(&self, tag: &str, behaviour: Behaviour) {
        self.state().behaviours.insert(tag.to_owned(), behaviour);
    }

    /// From now on IP services see this address through an outbound, in this country.
    pub fn set_ip(&self, tag: &str, ip: &str, country: &str) {
        let body = format!(r#"{{"ip":"{ip}","country_code":"{country}","asn":"AS64500"}}"#);
        self.state().ips.insert(tag.to_owned(), body);
    }

    /// From now on a group selects this member.
    pub fn select(&self, group: &str, member: &str) {
        self.state()
            .selected
            .insert(group.to_owned(), member.to_owned());
    }

    /// From now on an outbound is as ready as this.
    pub fn set_status(&self, tag: &str, readiness: Readiness) {
        self.state().statuses.insert(tag.to_owned(), readiness);
    }

    /// Every fetch so far, in order.
    pub fn fetches(&self) -> Vec<Fetch> {
        self.state().fetches.clone()
    }

    /// The tags of the URL tests so far, in order.
    pub fn tests(&self) -> Vec<String> {
        let state = self.state();
        let tests = state.fetches.iter().filter(|fetch| fetch.method == "HEAD");
        tests.map(|fetch| fetch.tag.clone()).collect()
    }

    /// How many fetches ran at the same time at most.
    pub fn most_in_flight(&self) -> usize {
        self.state().most_in_flight
    }

    /// How many fetches were dropped before they ended.
    pub fn dropped(&self) -> usize {
        self.state().dropped
    }

    /// A wall clock that goes with the virtual one, from 2026-01-01.
    pub fn wall_clock(&self) -> impl Fn() -> SystemTime + Send + Sync + 'static {
        let began = self.began;
        let new_year = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        move || new_year + began.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, tag: &str, request: &Request) -> (Behaviour, Option<String>) {
        let mut state = self.state();
        state.fetches.push(Fetch {
            at: self.began.elapsed(),
            tag: tag.to_owned(),
            method: request.method.clone(),
            url: request.url.clone(),
        });
        state.in_flight += 1;
        state.most_in_flight = state.most_in_flight.max(state.in_flight);
        let behaviour = state
            .behaviours
            .get(tag)
            .cloned()
            .unwrap_or(Behaviour::Silent);
        (behaviour, state.ips.get(tag).cloned())
    }
}

/// Counts a fetch out, however it ends.
struct InFlight {
    stub: Stub,
    ended: bool,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.stub.state();
        state.in_flight -= 1;
        state.dropped += usize::from(!self.ended);
    }
}

#[async_trait]
impl ProxyCore for Stub {
    fn list(&self) -> Vec<Outbound> {
        self.state().outbounds.clone()
    }

    fn selected(&self, group: &str, _: Network) -> Option<String> {
        self.state().selected.get(group).cloned()
    }

    fn select(&self, group: &str, _: Network, member: &str) -> Result<(), SelectError> {
        let mut state = self.state();
        let listed = state.outbounds.iter().find(|one| one.tag == group);
        let listed = listed.ok_or_else(|| SelectError::NoSuchGroup(group.to_owned()))?;
        if !listed.members.iter().any(|one| one == member) {
            return Err(SelectError::NotAMember {
                group: group.to_owned(),
                member: member.to_owned(),
            });
        }
        state.selected.insert(group.to_owned(), member.to_owned());
        Ok(())
    }

    fn status(&self, tag: &str) -> Readiness {
        self.state()
            .statuses
            .get(tag)
            .cloned()
            .unwrap_or(Readiness::Ready)
    }

    async fn dial(&self, _: &str, _: &Target, _: Instant) -> Result<Dialed, FetchError> {
        Err(FetchError::new(
            Phase::Dial,
            Cause::Unsupported,
            "a stub dials nothing",
        ))
    }

    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        let (behaviour, ip) = self.note(tag, request);
        let mut in_flight = InFlight {
            stub: self.clone(),
            ended: false,
        };
        let result = match behaviour {
            Behaviour::Answers(after, status) => {
                tokio::time::sleep(after).await;
                Ok(response(request, after, status, ip))
            }
            Behaviour::Fails(after, phase, cause) => {
                tokio::time::sleep(after).await;
                Err(FetchError::new(
                    phase,
                    cause,
                    format!("{tag} fails: {cause:?}"),
                ))
            }
            Behaviour::Silent => {
                tokio::time::sleep(request.deadline).await;
                Err(FetchError::new(
                    Phase::Http,
                    Cause::Timeout,
                    "no answer by the deadline",
                ))
            }
            Behaviour::Stuck => std::future::pending().await,
        };
        in_flight.ended = true;
        result
    }
}

fn response(request: &Request, after: Duration, status: u16, ip: Option<String>) -> Response {
    let (status, body) = match (request.method.as_str(), ip) {
        ("GET", Some(body)) => (200, body.into_bytes()),
        ("GET", None) => (503, Vec::new()),
        _ => (status, Vec::new()),
    };
    let timing = Timing {
        dial: after / 2,
        first_byte: after,
        total: after,
        ..Timing::default()
    };
    Response {
        status,
        headers: Vec::new(),
        body,
        timing,
    }
}
