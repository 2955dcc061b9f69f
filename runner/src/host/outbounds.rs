//! The import `outbounds`: the proxy core as the component sees it. It must not
//! touch the network itself, and nothing here may block the store.

use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;
use wasmtime::component::{Accessor, HasSelf};

use super::HostState;
use crate::engine::v0_1::{self, outbounds, types};
use crate::proxy_core::{Cause, FetchError, Phase};

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
        let core = accessor.with(|mut access| access.get().world.core.clone());
        let request = v0_1::request_in(request);
        // On the runtime's pool, so that a busy guest delays no answer, and aborted when
        // the guest drops the call.
        let exchange = tokio::spawn(async move { core.fetch(&tag, &request).await });
        let result = AbortOnDropHandle::new(exchange).await;
        // A core that panics loses its own exchange only.
        let result = result.unwrap_or_else(|error| Err(broken(&error)));
        result
            .map(v0_1::response_out)
            .map_err(v0_1::fetch_error_out)
    }
}

fn broken(error: &JoinError) -> FetchError {
    let text = format!("the core's fetch failed: {error}");
    FetchError::new(Phase::Dial, Cause::Other, text)
}
