//! Delays that a client asks to be measured: the monitor tests, and the client waits as long
//! as it says. It must not know what a test is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::answer::Refusal;
use crate::api::source::Source;
use crate::monitor::TestError;
use crate::report::{ErrorKind, Report, State as Known};

/// What a client asks with. The addresses that are tested, and which answers count, are the
/// monitor's: `url` and `expected` are taken and change nothing.
#[derive(Deserialize)]
pub(super) struct Asked {
    /// How long the client waits, in milliseconds.
    timeout: u64,
}

#[derive(Serialize)]
pub(super) struct Delay {
    delay: u32,
}

pub(super) async fn of_proxy(
    State(source): State<Arc<Source>>,
    name: Result<Path<String>, PathRejection>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<Delay>, Refusal> {
    let Path(name) = name?;
    let known = source.known(&name).await?;
    let Query(asked) = asked.map_err(|_| Refusal::Malformed)?;
    let delay = asked.in_time(source.delay(known)).await?;
    Ok(Json(Delay { delay }))
}

/// The delays of the members that answer.
pub(super) async fn of_group(
    State(source): State<Arc<Source>>,
    name: Result<Path<String>, PathRejection>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<BTreeMap<String, u32>>, Refusal> {
    let Path(name) = name?;
    let members = source.members(&name).ok_or(Refusal::NotFound)?;
    let Query(asked) = asked.map_err(|_| Refusal::Malformed)?;
    let tests = members.into_iter().map(async |member| {
        let test = async { source.delay(source.known(&member).await?).await };
        let delay = asked.in_time(test).await.ok()?;
        Some((member, delay))
    });
    let delays = join_all(tests).await.into_iter().flatten().collect();
    Ok(Json(delays))
}

impl Asked {
    async fn in_time<T>(
        &self,
        test: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let limit = Duration::from_millis(self.timeout);
        timeout(limit, test).await.unwrap_or(Err(Refusal::Timeout))
    }
}

impl Source {
    /// Has an outbound tested, or the one that a group leads to.
    async fn delay(&self, known: Report) -> Result<u32, Refusal> {
        let leaf = known.via.unwrap_or(known.tag);
        let report = self.monitor.test(leaf).await.map_err(untested)?;
        match (report.state, report.delay_ms, report.error) {
            (Known::Ok, Some(delay), _) => Ok(delay),
            (_, _, Some(error)) if error.kind == ErrorKind::Timeout => Err(Refusal::Timeout),
            (_, _, Some(error)) => Err(Refusal::TestFailed(error.text)),
            (_, _, None) => Err(Refusal::TestFailed("there is no result".to_owned())),
        }
    }
}

fn untested(error: TestError) -> Refusal {
    match error {
        TestError::UnknownTag => Refusal::NotFound,
        other => Refusal::TestFailed(other.to_string()),
    }
}
