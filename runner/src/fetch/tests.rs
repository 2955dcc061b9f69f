//! Fetches over streams that a test holds the other end of, on virtual time.
//! They must not know any outbound.

mod failures;
mod head;
mod http;
mod tls;

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use super::{Trust, through_dial};
use crate::proxy_core::{
    Cause, Dialed, FetchError, Io, Network, Outbound, Phase, ProxyCore, Request, Response, Target,
};
use crate::testing::read_head;

/// A core whose every stream leads to the test.
struct Peer {
    open: Box<dyn Fn() -> Box<dyn Io> + Send + Sync>,
    delay: Duration,
    trust: Trust,
    dialed: Mutex<Vec<Target>>,
}

impl Peer {
    /// `talk` holds the other end of each stream.
    fn new<F>(talk: impl Fn(DuplexStream) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::over(move || {
            let (ours, theirs) = tokio::io::duplex(64 * 1024);
            tokio::spawn(talk(theirs));
            Box::new(ours)
        })
    }

    /// Answers each request on a connection with the next of `answers`, then closes it.
    fn answering(answers: &'static [&'static str]) -> Self {
        Self::new(move |mut stream| async move {
            for answer in answers {
                read_head(&mut stream).await;
                stream.write_all(answer.as_bytes()).await.ok();
            }
        })
    }

    /// A core of such streams.
    fn over(open: impl Fn() -> Box<dyn Io> + Send + Sync + 'static) -> Self {
        Self {
            open: Box::new(open),
            delay: Duration::ZERO,
            trust: Trust::none(),
            dialed: Mutex::default(),
        }
    }

    /// It takes so long to dial.
    fn slow(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    fn trusting(self, pem: &str) -> Self {
        Self {
            trust: Trust::none().with_extra(pem.as_bytes()).unwrap(),
            ..self
        }
    }

    async fn fetch(&self, request: &Request) -> Result<Response, FetchError> {
        through_dial(self, "out", request, &self.trust).await
    }

    async fn failure(&self, request: &Request) -> (Phase, Cause) {
        let error = self.fetch(request).await.unwrap_err();
        (error.phase, error.cause)
    }

    fn dialed(&self) -> Vec<Target> {
        self.dialed.lock().unwrap().clone()
    }
}

#[async_trait]
impl ProxyCore for Peer {
    fn list(&self) -> Vec<Outbound> {
        Vec::new()
    }

    fn selected(&self, _group: &str, _network: Network) -> Option<String> {
        None
    }

    async fn dial(&self, _: &str, target: &Target, _: Instant) -> Result<Dialed, FetchError> {
        self.dialed.lock().unwrap().push(target.clone());
        tokio::time::sleep(self.delay).await;
        Ok(Dialed {
            stream: (self.open)(),
            dns: Some(Duration::from_millis(7)),
        })
    }
}
