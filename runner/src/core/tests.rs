//! The native core against servers on loopback.

mod datagrams;
mod detours;
mod direct;
mod http;
mod monitored;
mod opening;
mod options;
mod proxies;
mod servers;
mod shadowsocks;
mod socks;
mod tunnels;
mod websocket;

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::NativeCore;
use super::resolve::Resolver;
use crate::config::Entry;
use crate::proxy_core::{Cause, Dialed, FetchError, Host, Kind, Phase, ProxyCore, Target};
use crate::report::{Problem, Severity};
use crate::testing::PATIENCE;

/// How long a test waits for what never comes.
const SHORT: Duration = Duration::from_millis(300);

/// The core of a list of outbounds, all of which must be right.
fn core(outbounds: Value) -> NativeCore {
    let (core, problems) = read(outbounds);
    assert_eq!(problems, []);
    core
}

fn read(outbounds: Value) -> (NativeCore, Vec<Problem>) {
    let Value::Array(outbounds) = outbounds else {
        panic!("a list of outbounds")
    };
    let entries: Vec<Entry> = outbounds
        .into_iter()
        .enumerate()
        .map(|(index, value)| entry(index, value))
        .collect();
    NativeCore::new(&entries, None)
}

/// What the config reader makes of one outbound.
fn entry(index: usize, value: Value) -> Entry {
    let Value::Object(options) = value else {
        panic!("an outbound is an object")
    };
    let text = |name: &str| options.get(name).and_then(Value::as_str).map(str::to_owned);
    let type_name = text("type").unwrap();
    let members = options.get("outbounds").and_then(Value::as_array);
    Entry {
        tag: text("tag").unwrap_or_else(|| index.to_string()),
        kind: match type_name.as_str() {
            "selector" | "urltest" | "balancer" => Kind::Group,
            "block" | "dns" => Kind::Untestable,
            _ => Kind::Outbound,
        },
        type_name,
        detour: text("detour"),
        members: members
            .into_iter()
            .flatten()
            .map(|tag| tag.as_str().unwrap().into())
            .collect(),
        default: text("default"),
        fingerprint: String::new(),
        path: format!("outbounds[{index}]"),
        options,
    }
}

/// The errors among problems, as `path: message`.
fn errors(problems: &[Problem]) -> Vec<String> {
    problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .map(|problem| format!("{}: {}", problem.path, problem.message))
        .collect()
}

/// A target such as `web.test:80` or `[::1]:80`.
fn target(text: &str) -> Target {
    let (host, port) = text.rsplit_once(':').unwrap();
    let bare = host.trim_matches(['[', ']']);
    let host = bare
        .parse()
        .map_or_else(|_| Host::Name(bare.to_owned()), Host::Ip);
    Target {
        host,
        port: port.parse().unwrap(),
        family: None,
    }
}

async fn dial(core: &NativeCore, tag: &str, to: &Target) -> Result<Dialed, FetchError> {
    core.dial(tag, to, Instant::now() + PATIENCE).await
}

/// Where and why a dial fails; its text must name `peer`.
async fn failure(core: &NativeCore, tag: &str, to: &Target, peer: &str) -> (Phase, Cause) {
    let error = dial(core, tag, to).await.unwrap_err();
    assert!(error.text.contains(peer), "`{error}` should name `{peer}`");
    (error.phase, error.cause)
}

/// Whether bytes sent through `tag` to the echo server `to` come back.
async fn echoes(core: &NativeCore, tag: &str, to: &Target) -> bool {
    let mut stream = dial(core, tag, to).await.unwrap().stream;
    stream.write_all(b"hello").await.unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await.unwrap();
    &answer == b"hello"
}

/// A resolver that knows a few names; one called `silent` never answers.
struct Names(HashMap<&'static str, Vec<IpAddr>>);

impl Names {
    fn new<const N: usize>(names: [(&'static str, &[&str]); N]) -> Arc<Self> {
        let parsed = |ips: &[&str]| ips.iter().map(|ip| ip.parse().unwrap()).collect();
        Arc::new(Self(
            names
                .into_iter()
                .map(|(name, ips)| (name, parsed(ips)))
                .collect(),
        ))
    }
}

#[async_trait]
impl Resolver for Names {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        if name == "silent" {
            std::future::pending::<()>().await;
        }
        self.0
            .get(name)
            .cloned()
            .ok_or_else(|| io::Error::other("no such name"))
    }
}
