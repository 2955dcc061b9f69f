//! A core that fetches by itself, which is all that the smallest library needs of a host.
//! It must not need any feature of `outwatch`.

use std::time::Duration;

use async_trait::async_trait;
use outwatch::{
    Cause, Dialed, FetchError, Network, Outbound, Phase, ProxyCore, Request, Response, Target,
    Timing,
};

/// One outbound, behind which all is well and 20 ms away.
#[derive(Debug)]
pub struct FetchingCore;

#[async_trait]
impl ProxyCore for FetchingCore {
    fn list(&self) -> Vec<Outbound> {
        vec![Outbound::new("near", "stub")]
    }

    fn selected(&self, _: &str, _: Network) -> Option<String> {
        None
    }

    async fn dial(
        &self,
        _: &str,
        _: &Target,
        _: tokio::time::Instant,
    ) -> Result<Dialed, FetchError> {
        let text = "this core only fetches";
        Err(FetchError::new(Phase::Dial, Cause::Unsupported, text))
    }

    async fn fetch(&self, _: &str, _: &Request) -> Result<Response, FetchError> {
        let timing = Timing {
            first_byte: Duration::from_millis(20),
            ..Timing::default()
        };
        Ok(Response {
            status: 204,
            timing,
            ..Response::default()
        })
    }
}
