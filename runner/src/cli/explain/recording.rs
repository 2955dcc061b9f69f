//! A core that remembers what is fetched through another one, and how that went. It must not
//! know what a fetch is for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use outwatch::{
    Datagrams, Dialed, FetchError, Network, Outbound, ProxyCore, Readiness, Request, Response,
    SelectError, Target, Timing,
};
use tokio::time::Instant;

/// One fetch.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// When it began, in milliseconds since the test was asked for.
    pub(super) at_ms: u64,
    /// Through which outbound.
    pub(super) tag: String,
    pub(super) request: Request,
    /// None when it was given up before it was over.
    pub(super) outcome: Option<Outcome>,
    /// How long it took, in milliseconds; none when it was given up.
    pub(super) took_ms: Option<u64>,
}

/// What came of a fetch. Bodies are not kept.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Answered {
        status: u16,
        headers: Vec<(String, String)>,
        timing: Timing,
    },
    Failed(FetchError),
}

/// The core, and what was fetched.
pub(super) struct Recording {
    core: Arc<dyn ProxyCore>,
    seen: Mutex<Seen>,
}

struct Seen {
    began: Instant,
    steps: Vec<Step>,
}

impl Recording {
    pub(super) fn over(core: Arc<dyn ProxyCore>) -> Self {
        let seen = Seen {
            began: Instant::now(),
            steps: Vec::new(),
        };
        Self {
            core,
            seen: Mutex::new(seen),
        }
    }

    /// Counts time from now on.
    pub(super) fn begin(&self) {
        self.seen().began = Instant::now();
    }

    /// Since then.
    pub(super) fn elapsed_ms(&self) -> u64 {
        millis(self.seen().began.elapsed())
    }

    /// What was fetched so far, in the order it began.
    pub(super) fn steps(&self) -> Vec<Step> {
        self.seen().steps.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begins(&self, tag: &str, request: &Request) -> usize {
        let at_ms = self.elapsed_ms();
        let steps = &mut self.seen().steps;
        steps.push(Step {
            at_ms,
            tag: tag.to_owned(),
            request: request.clone(),
            outcome: None,
            took_ms: None,
        });
        steps.len() - 1
    }
}

#[async_trait]
impl ProxyCore for Recording {
    fn list(&self) -> Vec<Outbound> {
        self.core.list()
    }

    fn selected(&self, group: &str, network: Network) -> Option<String> {
        self.core.selected(group, network)
    }

    fn select(&self, group: &str, network: Network, member: &str) -> Result<(), SelectError> {
        self.core.select(group, network, member)
    }

    fn status(&self, tag: &str) -> Readiness {
        self.core.status(tag)
    }

    async fn dial(
        &self,
        tag: &str,
        target: &Target,
        deadline: Instant,
    ) -> Result<Dialed, FetchError> {
        self.core.dial(tag, target, deadline).await
    }

    async fn associate(
        &self,
        tag: &str,
        deadline: Instant,
    ) -> Result<Box<dyn Datagrams>, FetchError> {
        self.core.associate(tag, deadline).await
    }

    async fn fetch(&self, tag: &str, request: &Request) -> Result<Response, FetchError> {
        let nth = self.begins(tag, request);
        let began = Instant::now();
        let fetched = self.core.fetch(tag, request).await;
        let outcome = match &fetched {
            Ok(response) => Outcome::Answered {
                status: response.status,
                headers: response.headers.clone(),
                timing: response.timing,
            },
            Err(error) => Outcome::Failed(error.clone()),
        };
        if let Some(step) = self.seen().steps.get_mut(nth) {
            step.outcome = Some(outcome);
            step.took_ms = Some(millis(began.elapsed()));
        }
        fetched
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
