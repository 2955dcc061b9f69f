//! The import `outbounds`: the proxy core as the component sees it. It must not
//! touch the network itself, and nothing here may block the store.

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
        let mut exchanges = tokio::task::JoinSet::new();
        exchanges.spawn(async move { core.fetch(&tag, &request).await });
        let result = match exchanges.join_next().await {
            Some(Ok(result)) => result,
            // A core that panics loses its own exchange only.
            Some(Err(error)) => Err(broken(format!("the core's fetch failed: {error}"))),
            None => Err(broken("the core's fetch was lost".to_owned())),
        };
        result
            .map(v0_1::response_out)
            .map_err(v0_1::fetch_error_out)
    }
}

fn broken(text: String) -> FetchError {
    FetchError::new(Phase::Dial, Cause::Other, text)
}
