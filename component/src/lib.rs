//! The Outwatch engine as a component: WIT exports become engine inputs, engine
//! actions become WIT imports. It must not decide anything about monitoring.
//!
//! - `shell`: the one monitor of an instance and what waits on it.
//! - `run`: the loop that steps it.
//! - `host`: what is read from the host.
//! - `convert`: the contract's types to the engine's and back, but for those which the
//!   other guest shares (`words`).

mod convert;
mod host;
mod run;
mod shell;

use outwatch_engine::{Input, Selection};
use outwatch_words::{self as words, types};

use bindings::exports::outwatch::monitor::{control, handover, hooks};

/// What `wit/` looks like in Rust.
mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        world: "outwatch:monitor/monitor",
        generate_all,
        with: { "outwatch:monitor/types@0.1.0": outwatch_words::types },
    });

    use super::Component;
    export!(Component);
}

struct Component;

impl control::Guest for Component {
    fn start(options: String) -> Result<Vec<types::Problem>, Vec<types::Problem>> {
        host::log_panics();
        shell::start(&options)
    }

    async fn run() -> Result<(), String> {
        run::run().await
    }

    fn stop() {
        shell::push(Input::Stop);
    }

    async fn test(tag: String) -> Result<types::Report, control::TestError> {
        let answer = shell::ask(tag).await;
        answer
            .map(words::report_out)
            .map_err(convert::ask_error_out)
    }

    async fn subscribe(filter: control::Filter) -> wit_bindgen::StreamReader<control::Update> {
        shell::subscribe(convert::filter_in(filter))
    }

    fn report_of(tag: String, view: types::View) -> Option<types::Report> {
        shell::with(|shell| {
            shell
                .monitor
                .report(&tag, words::view_in(view), host::now())
        })
        .flatten()
        .map(words::report_out)
    }

    fn reports(view: types::View) -> Vec<types::Report> {
        let reports = shell::with(|shell| shell.monitor.reports(words::view_in(view), host::now()));
        reports
            .unwrap_or_default()
            .into_iter()
            .map(words::report_out)
            .collect()
    }

    fn measurements(tags: Vec<String>) -> Vec<Vec<types::Measurement>> {
        let now = host::now();
        let of = |shell: &shell::Shell, tag: &String| shell.monitor.measurements(tag, now);
        let all = shell::with(|shell| tags.iter().map(|tag| of(shell, tag)).collect());
        let all: Vec<_> = all.unwrap_or_else(|| vec![Vec::new(); tags.len()]);
        all.into_iter().map(words::measurements_out).collect()
    }

    fn options() -> String {
        shell::with(|shell| outwatch_options::write(shell.monitor.options())).unwrap_or_default()
    }

    fn service_hosts() -> Vec<String> {
        outwatch_engine::service_hosts().map(String::from).collect()
    }
}

impl hooks::Guest for Component {
    fn activity() {
        shell::push(Input::Activity);
    }

    fn network_changed() {
        shell::push(Input::NetworkChanged);
    }

    fn connection_failed(tag: String, group: Option<String>, cause: hooks::Cause) {
        let cause = convert::cause_in(cause);
        shell::push(Input::ConnectionFailed { tag, group, cause });
    }

    fn selection_changed(group: String) {
        let selection: Selection = host::selection(group);
        shell::push(Input::Selected(selection));
    }

    fn outbound_ready(tag: String) {
        shell::push(Input::OutboundReady(tag));
    }

    fn outbounds_changed() {
        let (outbounds, selections) = host::outbounds();
        shell::push(Input::Outbounds {
            outbounds,
            selections,
        });
    }

    fn pause() {
        shell::push(Input::Pause);
    }

    fn resume() {
        shell::push(Input::Resume);
    }
}

impl handover::Guest for Component {
    fn give() -> Vec<u8> {
        shell::with(|shell| shell.monitor.hand_over()).unwrap_or_default()
    }

    fn take(given: Vec<u8>) -> Result<(), String> {
        let taken = shell::with(|shell| shell.monitor.take_over(&given, host::now()));
        taken.unwrap_or_else(|| Err("the monitor is not started".to_owned()))
    }
}
