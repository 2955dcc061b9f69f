//! What the component is, and what it answers to one who calls it out of order.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

use super::world::component;
use bindings::MonitorStep;
use bindings::exports::outwatch::monitor::stepping::{
    Action, Input, Now, Outcome, ProbeEnded, ProbeOutcome, Setup,
};
use bindings::outwatch::monitor::types::{
    Outbound, OutboundFlags, OutboundKind, Problem, Report, State, View,
};

mod bindings {
    #![allow(missing_docs, reason = "wit/step.wit has them")]

    wasmtime::component::bindgen!({
        path: "../wit",
        world: "outwatch:monitor/monitor-step",
    });
}

/// One instance, at its first moment.
struct Instance {
    store: Store<()>,
    world: MonitorStep,
}

const NOW: Now = Now {
    mono: 1_000_000_000,
    wall: 1_700_000_000_000,
};

impl Instance {
    fn new() -> Self {
        let engine = Engine::default();
        let component = Component::from_file(&engine, component()).expect("a component");
        let mut store = Store::new(&engine, ());
        let linker = Linker::new(&engine);
        let world = MonitorStep::instantiate(&mut store, &component, &linker);
        Self {
            world: world.expect("an instance with nothing linked"),
            store,
        }
    }

    fn open(&mut self, options: &str) -> Result<Vec<Problem>, Vec<Problem>> {
        let setup = Setup {
            options: options.to_owned(),
            outbounds: vec![outbound("a")],
            selections: Vec::new(),
            saved: Vec::new(),
            seed: 7,
        };
        let stepping = self.world.outwatch_monitor_stepping();
        let opened = stepping.call_open(&mut self.store, &setup, NOW);
        opened.expect("no trap")
    }

    fn step(&mut self, inputs: &[Input]) -> Outcome {
        let stepping = self.world.outwatch_monitor_stepping();
        let outcome = stepping.call_step(&mut self.store, NOW, inputs);
        outcome.expect("no trap")
    }

    fn reports(&mut self) -> Vec<Report> {
        let stepping = self.world.outwatch_monitor_stepping();
        let reports = stepping.call_reports(&mut self.store, View::Confirmed, NOW);
        reports.expect("no trap")
    }
}

fn outbound(tag: &str) -> Outbound {
    Outbound {
        tag: tag.to_owned(),
        type_name: "http".to_owned(),
        kind: OutboundKind::Outbound,
        detour: None,
        members: Vec::new(),
        networks: Vec::new(),
        fingerprint: String::new(),
        flags: OutboundFlags::empty(),
    }
}

#[test]
fn the_component_imports_no_function() {
    let engine = Engine::default();
    let component = Component::from_file(&engine, component()).expect("a component");
    let ty = component.component_type();
    for (name, import) in ty.imports(&engine) {
        let ComponentItem::ComponentInstance(words) = import.ty else {
            panic!("{name} is no interface");
        };
        for (item, export) in words.exports(&engine) {
            let is_word = matches!(export.ty, ComponentItem::Type(_));
            assert!(
                is_word,
                "{name} has {item}, which a host would have to give"
            );
        }
    }
    let exports: Vec<_> = ty.exports(&engine).map(|(name, _)| name).collect();
    assert_eq!(exports, ["outwatch:monitor/stepping@0.1.0"]);
}

#[test]
fn before_it_is_open_every_step_comes_to_nothing() {
    let mut instance = Instance::new();
    let outcome = instance.step(&[Input::Activity, Input::Stop]);
    assert!(outcome.actions.is_empty());
    assert_eq!(outcome.wake_at, None);
    assert!(instance.reports().is_empty());
}

#[test]
fn f3_wrong_options_open_nothing_and_come_back_with_their_paths() {
    let mut instance = Instance::new();
    let problems = instance.open(r#"{"workers": 0, "urls": ["ftp://x.example/"]}"#);
    let problems = problems.expect_err("two problems");
    let paths: Vec<_> = problems.iter().map(|problem| &problem.path).collect();
    assert_eq!(paths, ["workers", "urls[0]"]);
    assert!(instance.reports().is_empty());
    assert!(instance.open("").is_ok());
    let again = instance.open("").expect_err("it is open");
    assert_eq!(again[0].message, "the monitor is already open");
}

#[test]
fn a_probe_goes_out_and_what_came_of_it_comes_in() {
    let mut instance = Instance::new();
    assert!(instance.open("").is_ok());
    let outcome = instance.step(&[]);
    assert!(outcome.wake_at > Some(NOW.mono));
    let probe = outcome.actions.iter().find_map(|action| match action {
        Action::Probe(probe) => Some(probe),
        _ => None,
    });
    let probe = probe.expect("a probe at the first step");
    assert_eq!(probe.tag, "a");
    assert_eq!(probe.request.deadline, 5_000_000_000);

    let ended = ProbeEnded {
        probe: probe.id,
        outcome: ProbeOutcome::NotReady("still connecting".to_owned()),
    };
    instance.step(&[Input::ProbeEnded(ended)]);
    let reports = instance.reports();
    assert_eq!(reports[0].state, State::NotReady);
    assert_eq!(reports[0].status_text.as_deref(), Some("still connecting"));
}

#[test]
fn a_stopped_monitor_says_so_last_and_then_nothing() {
    let mut instance = Instance::new();
    assert!(instance.open("").is_ok());
    instance.step(&[]);
    let outcome = instance.step(&[Input::Stop]);
    assert!(matches!(outcome.actions.first(), Some(Action::Cancel(1))));
    assert!(matches!(outcome.actions.last(), Some(Action::Stopped)));
    assert_eq!(outcome.wake_at, None);
    assert!(instance.step(&[Input::Activity]).actions.is_empty());
}
