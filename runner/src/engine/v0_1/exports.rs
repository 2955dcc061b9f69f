//! Contract 0.1: its exports in the runner's words. It must not keep anything of what
//! passes through.

use async_trait::async_trait;
use wasmtime::component::{Component as Wasm, Linker};
use wasmtime::{Engine, Store};

use super::{World, WorldPre, bindings, control, hooks};
use crate::engine::track::{Answer, Exports, Fitted, Guest, Hook, Pipe, Reader};
use crate::host::HostState;
use crate::monitor::{Fault, TestError};
use crate::report::{Measurement, Problem, Report, Scope, Severity, View};

/// Links a component, and looks for its exports.
pub(crate) fn fit(
    linker: &Linker<HostState>,
    component: &Wasm,
) -> wasmtime::Result<Box<dyn Fitted>> {
    let pre = linker.instantiate_pre(component).and_then(WorldPre::new)?;
    Ok(Box::new(pre))
}

#[async_trait]
impl Fitted for WorldPre<HostState> {
    fn engine(&self) -> &Engine {
        WorldPre::engine(self)
    }

    async fn instantiate(
        &self,
        store: &mut Store<HostState>,
    ) -> wasmtime::Result<Box<dyn Exports>> {
        Ok(Box::new(self.instantiate_async(store).await?))
    }
}

#[async_trait]
impl Exports for World {
    async fn start(
        &self,
        to: &Guest,
        options: String,
    ) -> Answer<Result<Vec<Problem>, Vec<Problem>>> {
        let started = self.control().call_start(to, options).await?;
        Ok(started
            .map(|warnings| super::problems_in(warnings, Severity::Warning))
            .map_err(|errors| super::problems_in(errors, Severity::Error)))
    }

    async fn run(&self, to: &Guest) -> Answer<Result<(), String>> {
        self.control().call_run(to).await
    }

    async fn stop(&self, to: &Guest) -> Answer<()> {
        self.control().call_stop(to).await
    }

    async fn test(&self, to: &Guest, tag: String) -> Answer<Result<Report, TestError>> {
        let tested = self.control().call_test(to, tag).await?;
        Ok(tested.map(super::report_in).map_err(test_error_in))
    }

    async fn subscribe(
        &self,
        to: &Guest,
        scope: Scope,
        view: View,
        reader: Box<dyn Reader>,
    ) -> Answer<()> {
        let filter = super::filter_out(scope, view);
        let updates = self.control().call_subscribe(to, filter).await?;
        let read = super::update_in;
        to.with(|access| updates.pipe(access, Pipe { reader, read }))
    }

    async fn report(&self, to: &Guest, tag: String, view: View) -> Answer<Option<Report>> {
        let view = super::view_out(view);
        let report = self.control().call_report_of(to, tag, view).await?;
        Ok(report.map(super::report_in))
    }

    async fn reports(&self, to: &Guest, view: View) -> Answer<Vec<Report>> {
        let reports = self
            .control()
            .call_reports(to, super::view_out(view))
            .await?;
        Ok(reports.into_iter().map(super::report_in).collect())
    }

    async fn measurements(&self, to: &Guest, tags: Vec<String>) -> Answer<Vec<Vec<Measurement>>> {
        let all = self.control().call_measurements(to, tags).await?;
        Ok(all
            .into_iter()
            .map(super::reports::measurements_in)
            .collect())
    }

    async fn options(&self, to: &Guest) -> Answer<String> {
        self.control().call_options(to).await
    }

    async fn service_hosts(&self, to: &Guest) -> Answer<Vec<String>> {
        self.control().call_service_hosts(to).await
    }

    async fn tell(&self, to: &Guest, hook: Hook) -> Answer<()> {
        let hooks = self.outwatch_monitor_hooks();
        match hook {
            Hook::Activity => hooks.call_activity(to).await,
            Hook::NetworkChanged => hooks.call_network_changed(to).await,
            Hook::ConnectionFailed { tag, group, fault } => {
                let cause = cause_out(fault);
                hooks.call_connection_failed(to, tag, group, cause).await
            }
            Hook::SelectionChanged(group) => hooks.call_selection_changed(to, group).await,
            Hook::OutboundReady(tag) => hooks.call_outbound_ready(to, tag).await,
            Hook::OutboundsChanged => hooks.call_outbounds_changed(to).await,
            Hook::Pause => hooks.call_pause(to).await,
            Hook::Resume => hooks.call_resume(to).await,
        }
    }

    async fn give(&self, to: &Guest) -> Answer<Vec<u8>> {
        self.outwatch_monitor_handover().call_give(to).await
    }

    async fn take(&self, to: &Guest, given: Vec<u8>) -> Answer<Result<(), String>> {
        self.outwatch_monitor_handover().call_take(to, given).await
    }
}

impl World {
    fn control(&self) -> &bindings::exports::outwatch::monitor::control::Guest {
        self.outwatch_monitor_control()
    }
}

fn cause_out(fault: Fault) -> hooks::Cause {
    match fault {
        Fault::Outbound => hooks::Cause::Member,
        Fault::Destination => hooks::Cause::Destination,
        Fault::Client => hooks::Cause::Client,
    }
}

fn test_error_in(error: control::TestError) -> TestError {
    match error {
        control::TestError::UnknownTag => TestError::UnknownTag,
        control::TestError::Untestable => TestError::Untestable,
        control::TestError::NotReady(text) => TestError::NotReady(text),
        control::TestError::Stopped => TestError::Stopped,
    }
}
