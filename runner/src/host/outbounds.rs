//! The import `outbounds`: the proxy core as the component sees it. It must not
//! touch the network itself, and nothing here may block the store.

use std::sync::{Arc, Once};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;
use tracing::warn;
use wasmtime::component::{Accessor, HasSelf};

use super::HostState;
use crate::engine::v0_1::{self, outbounds, types};
use crate::proxy_core::{Cause, FetchError, Phase, Request};

/// The most that is read of a body, in bytes, whatever the guest asks for: many times
/// what any address service answers.
const BODY_LIMIT: u32 = 1 << 20;

impl types::Host for HostState {}

impl outbounds::Host for HostState {
    fn list(&mut self) -> Vec<types::Outbound> {
        self.world
            .core
            .list()
            .into_iter()
            .map(v0_1::outbound_out)
            .collect()
    }

    fn selected(&mut self, group: String, network: types::Network) -> Option<String> {
        self.world.core.selected(&group, v0_1::network_in(network))
    }

    fn status(&mut self, tag: String) -> types::Readiness {
        v0_1::readiness_out(self.world.core.status(&tag))
    }
}

impl<T: Send> outbounds::HostWithStore<T> for HasSelf<HostState> {
    async fn fetch(
        accessor: &Accessor<T, Self>,
        tag: String,
        request: outbounds::Request,
    ) -> Result<outbounds::Response, outbounds::FetchError> {
        let (core, slots) = accessor.with(|mut access| {
            let state = access.get();
            (state.world.core.clone(), state.fetches.clone())
        });
        let mut request = v0_1::request_in(request);
        request.body_limit = request.body_limit.min(BODY_LIMIT);
        // On the runtime's pool, so that a busy guest delays no answer, and aborted when
        // the guest drops the call.
        let exchange = tokio::spawn(async move {
            let _slot = match slots.free() {
                Some(slot) => slot,
                // Boxed: few wait, and all of the task is moved.
                None => Box::pin(slots.wait(&mut request)).await?,
            };
            core.fetch(&tag, &request).await
        });
        let result = AbortOnDropHandle::new(exchange).await;
        // A core that panics loses its own exchange only.
        let result = result.unwrap_or_else(|error| Err(broken(&error)));
        result
            .map(v0_1::response_out)
            .map_err(v0_1::fetch_error_out)
    }
}

/// Room for the fetches of one instance.
#[derive(Clone)]
pub(super) struct Slots {
    room: Arc<Semaphore>,
    /// It has been said that there is none.
    said: Arc<Once>,
}

impl Slots {
    pub(super) fn new(count: usize) -> Self {
        Self {
            room: Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS))),
            said: Arc::new(Once::new()),
        }
    }

    /// Room, if there is some at once.
    fn free(&self) -> Option<OwnedSemaphorePermit> {
        self.room.clone().try_acquire_owned().ok()
    }

    /// Waits for room, within the request's deadline, of which the wait is a part.
    async fn wait(&self, request: &mut Request) -> Result<OwnedSemaphorePermit, FetchError> {
        self.said.call_once(|| {
            warn!("the component asks for more fetches at once than it may have; they wait");
        });
        let asked = Instant::now();
        let room = self.room.clone().acquire_owned();
        match timeout(request.deadline, room).await {
            Ok(Ok(slot)) => {
                request.deadline = request.deadline.saturating_sub(asked.elapsed());
                Ok(slot)
            }
            Ok(Err(_)) | Err(_) => {
                let text = "too many fetches ran for this one to begin in time";
                Err(FetchError::new(Phase::Dial, Cause::Timeout, text))
            }
        }
    }
}

fn broken(error: &JoinError) -> FetchError {
    let text = format!("the core's fetch failed: {error}");
    FetchError::new(Phase::Dial, Cause::Other, text)
}
