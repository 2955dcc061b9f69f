//! One command to a WebDriver: a request of JSON and its answer. It must not know what the
//! commands are for.
//!
//! WebDriver is so little that a client of one's own is smaller than what a crate of it brings.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, Result, bail};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// Carries out a command at the driver that listens on `port`, and gives its value. A body that
/// is null is none.
///
/// # Errors
/// When the driver cannot be reached or says that the command failed.
pub(super) async fn command(port: u16, method: Method, path: &str, body: &Value) -> Result<Value> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect(address).await.context("no driver")?;
    let (mut requests, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let body = match body {
        Value::Null => Bytes::new(),
        body => Bytes::from(body.to_string()),
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(body))?;
    // With its sender gone, the connection ends.
    let answer = async move {
        let response = requests.send_request(request).await?;
        response.into_body().collect().await
    };
    let (answer, _) = tokio::join!(answer, connection);
    let mut answer: Value = serde_json::from_slice(&answer?.to_bytes())?;
    let value = answer["value"].take();
    match value["error"].as_str() {
        Some(error) => bail!("{error}: {}", value["message"].as_str().unwrap_or_default()),
        None => Ok(value),
    }
}
