//! Talks with a running sing-box over its API: switches selectors, resolves names. It
//! must not know why.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::proxy_core::Family;

/// It is on this machine; what takes longer hangs.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// No answer that is asked for here is longer.
const ANSWER: usize = 64 * 1024;

/// The API of one sing-box.
#[derive(Clone)]
pub(super) struct Control {
    pub(super) at: SocketAddr,
    pub(super) secret: String,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl Control {
    /// Makes a selector lead to a member.
    pub(super) async fn select(&self, group: &str, member: &str) -> io::Result<()> {
        let path = format!("/proxies/{}", utf8_percent_encode(group, NON_ALPHANUMERIC));
        let body = json!({ "name": member }).to_string();
        let (status, _) = self.ask(Method::PUT, &path, body).await?;
        if status.is_success() {
            Ok(())
        } else {
            Err(io::Error::other(format!("status {status}")))
        }
    }

    /// The addresses of `name` in a family, as the config's `dns` has it resolved.
    pub(super) async fn resolve(&self, name: &str, family: Family) -> io::Result<Vec<IpAddr>> {
        let kind = match family {
            Family::V4 => "A",
            Family::V6 => "AAAA",
        };
        let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
        let path = format!("/dns/query?name={name}&type={kind}");
        let (status, body) = self.ask(Method::GET, &path, String::new()).await?;
        if !status.is_success() {
            return Err(io::Error::other(format!("status {status}")));
        }
        let answer: Answer = serde_json::from_slice(&body)?;
        let records = answer.records.unwrap_or_default().into_iter();
        Ok(records
            .filter_map(|record| record.data.parse().ok())
            .collect())
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> io::Result<(StatusCode, Vec<u8>)> {
        let asked = async {
            let stream = TcpStream::connect(self.at).await?;
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
                .await
                .map_err(io::Error::other)?;
            let request = Request::builder()
                .method(method)
                .uri(path)
                .header(header::HOST, self.at.to_string())
                .header(header::AUTHORIZATION, format!("Bearer {}", self.secret))
                .body(Full::new(bytes::Bytes::from(body)))
                .map_err(io::Error::other)?;
            let exchange = async {
                let response = sender
                    .send_request(request)
                    .await
                    .map_err(io::Error::other)?;
                let status = response.status();
                let body = Limited::new(response.into_body(), ANSWER).collect().await;
                let body = body.map_err(io::Error::other)?.to_bytes().to_vec();
                Ok((status, body))
            };
            tokio::select! {
                answer = exchange => answer,
                // It ends before the exchange only by an error, which the exchange has, too.
                Err(error) = connection => Err(io::Error::other(error)),
            }
        };
        timeout(ANSWERS_WITHIN, asked)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Answer")]
    records: Option<Vec<Record>>,
}

#[derive(Deserialize)]
struct Record {
    data: String,
}
