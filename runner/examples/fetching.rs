//! A core that fetches by itself: it has an HTTP client for each outbound already, so it
//! needs no TLS and no HTTP of the library's (build it without the feature `fetch`).
#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use std::time::Instant;

use async_trait::async_trait;
use outwatch::{
    Cause, Dialed, FetchError, Monitor, Network, Outbound, Phase, ProxyCore, Request, Response,
    Target, Timing,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What your core has instead: plain HTTP/1.1, straight.
async fn my_client(request: &Request) -> std::io::Result<(String, Timing)> {
    let start = Instant::now();
    let rest = request.url.trim_start_matches("http://");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).await?;
    let dial = start.elapsed();
    let method = &request.method;
    let head = format!("{method} /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let first = stream.read_u8().await?;
    let first_byte = start.elapsed();
    let mut answer = String::from(char::from(first));
    stream.read_to_string(&mut answer).await?;
    let timing = Timing {
        dial,
        first_byte,
        total: start.elapsed(),
        ..Timing::default()
    };
    Ok((answer, timing))
}

struct FetchingCore;

#[async_trait]
impl ProxyCore for FetchingCore {
    fn list(&self) -> Vec<Outbound> {
        vec![Outbound::new("straight", "direct")]
    }

    fn selected(&self, _group: &str, _network: Network) -> Option<String> {
        None
    }

    async fn dial(
        &self,
        _tag: &str,
        _target: &Target,
        _deadline: tokio::time::Instant,
    ) -> Result<Dialed, FetchError> {
        let text = "this core opens no streams for others";
        Err(FetchError::new(Phase::Dial, Cause::Unsupported, text))
    }

    async fn fetch(&self, _tag: &str, request: &Request) -> Result<Response, FetchError> {
        let failed = |cause, text| FetchError::new(Phase::Http, cause, text);
        let (answer, timing) = timeout(request.deadline, my_client(request))
            .await
            .map_err(|_| failed(Cause::Timeout, "no answer in time".to_owned()))?
            .map_err(|error| failed(Cause::Other, error.to_string()))?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        Ok(Response {
            status: status.ok_or_else(|| failed(Cause::HttpMalformed, head.to_owned()))?,
            headers: Vec::new(),
            body: body.into(),
            timing,
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = std::env::args().nth(1).unwrap_or_default();
    let builder = Monitor::builder(FetchingCore).options(options);
    let monitor = builder.start().await?;
    let report = monitor.test("straight").await?;
    println!("tested: {}", serde_json::to_string(&report)?);
    monitor.stop().await?;
    Ok(())
}
