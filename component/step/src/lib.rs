//! The engine as a component that imports nothing: a host calls `step` with what happened
//! and gets what is to be done. It must not decide anything about monitoring.

mod convert;

use std::cell::RefCell;

use outwatch_engine::{Monitor, Setup};
use outwatch_words::{self as words, types};

use bindings::exports::outwatch::monitor::stepping;

/// What `wit/step.wit` looks like in Rust.
mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "outwatch:monitor/monitor-step",
        generate_all,
        with: { "outwatch:monitor/types@0.1.0": outwatch_words::types },
    });

    use super::Component;
    export!(Component);
}

thread_local! {
    /// The one monitor of this instance.
    static MONITOR: RefCell<Option<Monitor>> = const { RefCell::new(None) };
}

struct Component;

impl stepping::Guest for Component {
    fn open(
        setup: stepping::Setup,
        now: stepping::Now,
    ) -> Result<Vec<types::Problem>, Vec<types::Problem>> {
        if with(|_| ()).is_some() {
            return Err(vec![types::Problem {
                path: String::new(),
                message: "the monitor is already open".to_owned(),
                hint: None,
            }]);
        }
        let (options, warnings) =
            outwatch_options::read(&setup.options).map_err(words::problems_out)?;
        let setup = Setup {
            options,
            outbounds: convert::outbounds_in(setup.outbounds),
            selections: convert::selections_in(setup.selections),
            saved: convert::saved_in(setup.saved),
            seed: setup.seed,
        };
        MONITOR.set(Some(Monitor::new(setup, convert::now_in(now))));
        Ok(words::problems_out(warnings))
    }

    fn step(now: stepping::Now, inputs: Vec<stepping::Input>) -> stepping::Outcome {
        let inputs = inputs.into_iter().map(convert::input_in);
        let outcome = with(|monitor| monitor.step(convert::now_in(now), inputs));
        convert::outcome_out(outcome.unwrap_or_default())
    }

    fn reports(view: types::View, now: stepping::Now) -> Vec<types::Report> {
        let reports = with(|monitor| monitor.reports(words::view_in(view), convert::now_in(now)));
        let reports = reports.unwrap_or_default().into_iter();
        reports.map(words::report_out).collect()
    }

    fn measurements(tags: Vec<String>, now: stepping::Now) -> Vec<Vec<types::Measurement>> {
        let now = convert::now_in(now);
        let of = |monitor: &Monitor, tag: &String| monitor.measurements(tag, now);
        let all = with(|monitor| tags.iter().map(|tag| of(monitor, tag)).collect());
        let all: Vec<_> = all.unwrap_or_else(|| vec![Vec::new(); tags.len()]);
        all.into_iter().map(words::measurements_out).collect()
    }

    fn options() -> String {
        with(|monitor| outwatch_options::write(monitor.options())).unwrap_or_default()
    }

    fn service_hosts() -> Vec<String> {
        outwatch_engine::service_hosts().map(String::from).collect()
    }
}

/// Does `f` with the monitor; nothing before a successful `open`.
fn with<R>(f: impl FnOnce(&mut Monitor) -> R) -> Option<R> {
    MONITOR.with_borrow_mut(|monitor| monitor.as_mut().map(f))
}
