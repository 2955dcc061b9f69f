//! A later contract, of which nothing is released: `tests/guests/changed` shows in tests
//! that a track beside another is all that another contract needs. It must not be in the
//! library.

use std::future::poll_fn;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use wasmtime::component::{Accessor, Component as Wasm, HasSelf, Linker};
use wasmtime::{Engine, Store};

use super::track::{Answer, Exports, Fitted, Guest, Hook, Reader};
use crate::host::HostState;
use crate::monitor::TestError;
use crate::proxy_core::{Kind, Request};
use crate::report::{self, Measurement, Problem, Report, Scope, Severity, Update, View};

use bindings::exports::outwatch::monitor::engine;
use bindings::outwatch::monitor::core;
use bindings::{Monitor, MonitorPre};

#[allow(missing_docs, unreachable_pub, reason = "generated")]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../tests/guests/changed/wit",
        world: "outwatch:monitor/monitor",
        exports: { default: async | store },
    });
}

mod tests;

pub(super) fn fit(on: &Engine, component: &Wasm) -> wasmtime::Result<Box<dyn Fitted>> {
    let mut linker: Linker<HostState> = Linker::new(on);
    core::add_to_linker::<_, HasSelf<HostState>>(&mut linker, |state| state)?;
    let pre = linker
        .instantiate_pre(component)
        .and_then(MonitorPre::new)?;
    Ok(Box::new(pre))
}

impl core::Host for HostState {
    fn list(&mut self) -> Vec<core::Outbound> {
        let outbounds = self.world.core.list().into_iter();
        outbounds
            .map(|outbound| core::Outbound {
                tag: outbound.tag,
                testable: matches!(outbound.kind, Kind::Outbound | Kind::Endpoint),
            })
            .collect()
    }
}

impl<T: Send> core::HostWithStore<T> for HasSelf<HostState> {
    async fn fetch(
        host: &Accessor<T, Self>,
        tag: String,
        url: String,
        within_ms: u32,
    ) -> Result<u32, String> {
        let core = host.with(|mut access| access.get().world.core.clone());
        let request = Request {
            url,
            method: "HEAD".to_owned(),
            headers: Vec::new(),
            deadline: Duration::from_millis(within_ms.into()),
            body_limit: 0,
            response_headers: Vec::new(),
            repeat: false,
            family: None,
        };
        let response = core.fetch(&tag, &request).await;
        let response = response.map_err(|error| error.to_string())?;
        Ok(u32::try_from(response.timing.first_byte.as_millis()).unwrap_or(u32::MAX))
    }
}

#[async_trait]
impl Fitted for MonitorPre<HostState> {
    fn engine(&self) -> &Engine {
        MonitorPre::engine(self)
    }

    async fn instantiate(
        &self,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<Box<dyn Exports>> {
        Ok(Box::new(Started {
            monitor: self.instantiate_async(store).await?,
            given: Mutex::default(),
        }))
    }
}

/// This contract gives as it stops.
struct Started {
    monitor: Monitor,
    given: Mutex<Vec<u8>>,
}

impl Started {
    fn engine(&self) -> &engine::Guest {
        self.monitor.outwatch_monitor_engine()
    }
}

#[async_trait]
impl Exports for Started {
    async fn start(
        &self,
        to: &Guest,
        options: String,
    ) -> Answer<Result<Vec<Problem>, Vec<Problem>>> {
        let problem = |message| Problem {
            severity: Severity::Error,
            path: String::new(),
            message,
            hint: None,
        };
        let started = self.engine().call_start(to, options).await?;
        Ok(started
            .map(|()| Vec::new())
            .map_err(|why| vec![problem(why)]))
    }

    async fn run(&self, to: &Guest) -> Answer<Result<(), String>> {
        self.engine().call_run(to).await.map(Ok)
    }

    async fn stop(&self, to: &Guest) -> Answer<()> {
        let given = self.engine().call_stop(to).await?;
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = given;
        Ok(())
    }

    async fn test(&self, to: &Guest, tag: String) -> Answer<Result<Report, TestError>> {
        let report = self.engine().call_test(to, tag).await?;
        Ok(report.map(report_in).ok_or(TestError::UnknownTag))
    }

    /// This contract has no streams: one who watches is told once how all stands.
    async fn subscribe(
        &self,
        to: &Guest,
        _: Scope,
        view: View,
        mut reader: Box<dyn Reader>,
    ) -> Answer<()> {
        let reports = self.reports(to, view).await?;
        if poll_fn(|context| reader.poll_ready(context)).await.is_ok() {
            let update = Update {
                reports,
                removed: Vec::new(),
                urgent: true,
            };
            // One who left needs no word.
            let _ = reader.take(update);
        }
        Ok(())
    }

    async fn report(&self, to: &Guest, tag: String, view: View) -> Answer<Option<Report>> {
        let reports = self.reports(to, view).await?;
        Ok(reports.into_iter().find(|report| report.tag == tag))
    }

    async fn reports(&self, to: &Guest, _: View) -> Answer<Vec<Report>> {
        let reports = self.engine().call_reports(to).await?;
        Ok(reports.into_iter().map(report_in).collect())
    }

    async fn measurements(&self, _: &Guest, tags: Vec<String>) -> Answer<Vec<Vec<Measurement>>> {
        Ok(vec![Vec::new(); tags.len()])
    }

    async fn options(&self, _: &Guest) -> Answer<String> {
        Ok("{}".to_owned())
    }

    async fn service_hosts(&self, _: &Guest) -> Answer<Vec<String>> {
        Ok(Vec::new())
    }

    async fn tell(&self, _: &Guest, _: Hook) -> Answer<()> {
        Ok(())
    }

    async fn give(&self, _: &Guest) -> Answer<Vec<u8>> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *given))
    }

    async fn take(&self, _: &Guest, _: Vec<u8>) -> Answer<Result<(), String>> {
        Ok(Err("this contract takes nothing".to_owned()))
    }
}

fn report_in(report: engine::Report) -> Report {
    let (delay_ms, error) = match report.outcome.clone() {
        Some(Ok(delay_ms)) => (Some(delay_ms), None),
        Some(Err(text)) => (None, Some(text)),
        None => (None, None),
    };
    let untested = Report::untested(report.tag, Kind::Outbound, "0.2");
    Report {
        state: match report.outcome {
            Some(Ok(_)) => report::State::Ok,
            Some(Err(_)) => report::State::Failed,
            None => report::State::Untested,
        },
        delay_ms,
        error: error.map(|text| report::Failure {
            kind: report::ErrorKind::Other,
            text,
        }),
        revision: report.revision,
        ..untested
    }
}
